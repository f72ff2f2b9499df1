import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pino } from "pino";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { launchChromium } from "../processes/launch-chromium.ts";
import { startOwnPostgres } from "../processes/own-postgres.ts";
import { startOwnRedis } from "../processes/own-redis.ts";
import type { Teardown } from "../processes/teardown.ts";
import { checkoutScenes } from "./checkout-scenes.ts";
import { explorerScenes } from "./explorer-scenes.ts";
import { indexPage } from "./index-page.ts";
import { merchantScenes } from "./merchant-scenes.ts";
import { faucetScenes, walletProxyScenes } from "./outer-scenes.ts";
import type { Scene } from "./scene.ts";
import { openCheckoutSites } from "./sites/checkout-sites.ts";
import { openExplorerSites } from "./sites/explorer-sites.ts";
import { openFaucetSites } from "./sites/faucet-sites.ts";
import { openMerchantSites } from "./sites/merchant-sites.ts";
import { openWalletProxySites } from "./sites/wallet-proxy-sites.ts";
import { type SceneShots, takeShots } from "./take-shots.ts";

const atOnce = 2;

/**
 * Takes pictures of all pages in all states into a folder, with an index for people. A scene that fails is named there and
 * does not keep the others.
 * @returns whether all could be taken. @throws Error where Chromium, Redis, PostgreSQL or anvil is missing.
 */
export async function runShots(
  t: Teardown,
  {
    out,
    only,
    withinMs,
    note,
  }: { out: string; only: string; withinMs: number; note: (text: string) => void },
): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  const browser = await launchChromium();
  if ("missing" in browser) throw new Error(browser.missing);
  t.teardown(() => browser.close());
  note("the chain is written and indexed\n");
  const scenes = (await openScenes(t)).filter(({ name }) => name.includes(only));
  if (scenes.length === 0) throw new Error(`no page's name contains ${only}`);
  const folder = resolve(out);
  await mkdir(folder, { recursive: true });

  const done = new Map<Scene, SceneShots>();
  const queue = [...scenes];
  const work = async () => {
    for (let scene = queue.shift(); scene !== undefined; scene = queue.shift()) {
      const beganMs = performance.now();
      const isLate = beganMs > endMs;
      const taken = isLate
        ? { scene, shots: [], failed: "the time was up" }
        : await takeShots(browser, scene, folder);
      done.set(scene, taken);
      const { shots, failed } = taken;
      const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
      const outcome = failed === undefined ? `${shots.length} pictures` : `FAILED: ${failed}`;
      note(
        `${String(done.size).padStart(3)}/${scenes.length} ${scene.name.padEnd(28)} ${seconds} s  ${outcome}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const all = scenes.flatMap((scene) => done.get(scene) ?? []);
  await writeFile(join(folder, "index.html"), indexPage(all));
  const failed = all.filter((taken) => taken.failed !== undefined);
  const pictures = all.reduce((sum, { shots }) => sum + shots.length, 0);
  note(
    `${pictures} pictures of ${all.length} scenes, ${failed.length} failed: ${join(folder, "index.html")}\n`,
  );
  return failed.length === 0;
}

async function openScenes(t: Teardown): Promise<Scene[]> {
  const [redis, postgres] = await Promise.all([startOwnRedis(t), startOwnPostgres(t)]);
  let databases = 0;
  const createDatabase = async () => {
    databases += 1;
    const name = `pages_${databases}`;
    const admin = await connectPostgres({ url: postgres.url, name: "pages", logger: silent });
    await admin.query(`create database ${name}`);
    await admin.end();
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  const sites = await openExplorerSites(t, { redisUrl: redis.url, createDatabase });
  return [
    ...explorerScenes(sites).map(({ site, ...scene }) => ({
      ...scene,
      hasFixedClock: true,
      open: () => site(sites),
    })),
    ...(await merchantScenes(openMerchantSites(t, { redisUrl: redis.url, createDatabase }))),
    ...(await checkoutScenes(openCheckoutSites(t, { redisUrl: redis.url, createDatabase }))),
    ...faucetScenes(openFaucetSites(t)),
    ...walletProxyScenes(openWalletProxySites(t)),
  ];
}

const silent = pino({ level: "silent" });
