import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress } from "ethers/address";
import { pino } from "pino";
import type { ApiConfig } from "../../../api/config.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { type Sealing, sealers } from "../../../test/fakes/sealed-chain.ts";
import { startSealedNetwork } from "../../../test/fakes/sealed-network.ts";
import { startTcpProxy } from "../../../test/fakes/tcp-proxy.ts";
import { startOwnAnvil } from "../../processes/own-anvil.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { alice, market } from "./accounts.ts";
import { fillChain, type Hashes, marketAbi } from "./fill-chain.ts";
import { startExplorer, waitForIndex } from "./start-explorer.ts";

const height = 130;
/** From here on one validator is away. */
const awayFrom = 95;
/** How long before the end the block with all kinds of transactions stands. */
const busyBefore = 3;
/** What the index has where it is behind: a whole range of what it reads at once. */
const heldAt = 99;
const stalledSeconds = 240;
/** Pages are the same whenever they are made: the clock stands, a second after the newest block. */
export const shownAtMs = Date.UTC(2026, 0, 15, 9, 30, 1);

export type Site = { url: string; before?: () => Promise<unknown> };

export type ExplorerSites = {
  hashes: Hashes & { pending: string };
  /** Numbers of blocks to look at: the newest, one with all kinds of transactions, the last that needed a second round. */
  blocks: { newest: number; busy: number; late: number };
  network: () => Promise<Site>;
  stalled: () => Promise<Site>;
  behind: () => Promise<Site>;
  indexAway: () => Promise<Site>;
  chainAway: () => Promise<Site>;
  limited: () => Promise<Site>;
  empty: () => Promise<Site>;
};

/** Explorers of one network in all the states that it can be in; each is started when it is asked for. */
export async function openExplorerSites(
  t: Teardown,
  { redisUrl, createDatabase }: { redisUrl: string; createDatabase: () => Promise<string> },
): Promise<ExplorerSites> {
  const newestSeconds = Math.floor(shownAtMs / 1000) - 1;
  const turns = drawTurns();
  const timestampOf = (number: number) =>
    newestSeconds - turns.slice(number + 1).reduce((sum, { seconds }) => sum + seconds, 0);
  const anvil = await startOwnAnvil(t, { genesisTimestampSeconds: timestampOf(0) });
  const hashes = await fillChain(anvil, { height, busy: height - busyBefore, timestampOf });
  const pending = String(
    await anvil.rpc("eth_sendTransaction", [{ from: alice, to: market, value: "0x0", gas: "0x30d40" }]),
  );
  const contractsFolder = await writeContracts(t);
  const network = await startSealedNetwork(t, {
    chainUrl: anvil.url,
    sealingOf: (number) => turns[number]?.sealing ?? genesisSealing,
    isAway: (index) => index === 4,
  });
  const postgresUrl = await createDatabase();
  const services = { redisUrl, postgresUrl, upstream: network.url };
  const change = (config: ApiConfig): ApiConfig => ({
    ...config,
    contractsFolder,
    sealSources: [...network.validatorUrls],
    names: Object.fromEntries(
      sealers.map(({ address }, index) => [getAddress(address), `validator-${index + 1}`]),
    ),
  });

  const shared = once(async () => {
    const url = await startExplorer(t, { services, nowMs: shownAtMs, change });
    await waitForIndex(url, height);
    await writeBurns(postgresUrl);
    return { url };
  });

  return {
    hashes: { ...hashes, pending },
    blocks: {
      newest: height,
      busy: height - busyBefore,
      late: turns.findLastIndex(({ sealing }, number) => sealing.round > 0 && number < height - busyBefore),
    },
    network: shared,
    stalled: once(async () => {
      await shared();
      return { url: await startExplorer(t, { services, nowMs: shownAtMs + stalledSeconds * 1000, change }) };
    }),
    behind: once(async () => {
      const held = await startSealedNetwork(t, {
        chainUrl: anvil.url,
        sealingOf: (number) => turns[number]?.sealing ?? genesisSealing,
        refuses: ({ method, params }) => method === "eth_getBlockReceipts" && Number(params[0]) > heldAt,
      });
      const url = await startExplorer(t, {
        services: { redisUrl, postgresUrl: await createDatabase(), upstream: held.url },
        nowMs: shownAtMs,
        change,
      });
      await waitForIndex(url, heldAt);
      return { url };
    }),
    indexAway: once(async () => {
      await shared();
      const proxy = await startProxy(postgresUrl);
      const url = await startExplorer(t, {
        services: { ...services, postgresUrl: proxy.url },
        nowMs: shownAtMs,
        change,
      });
      await waitForIndex(url, height);
      await proxy.stop();
      return { url };
    }),
    chainAway: once(async () => {
      await shared();
      const proxy = await startProxy(network.url);
      const url = await startExplorer(t, {
        services: { ...services, upstream: proxy.url },
        nowMs: shownAtMs,
        change,
      });
      await waitForIndex(url, height);
      await proxy.stop();
      return { url };
    }),
    limited: once(async () => {
      await shared();
      const url = await startExplorer(t, {
        services,
        nowMs: shownAtMs,
        change: (config) => ({ ...change(config), limits: { points: 1, windowSeconds: 60 } }),
      });
      // The one that may be made.
      return { url, before: () => fetch(`${url}/network`) };
    }),
    empty: once(async () => {
      const own = await startOwnAnvil(t, { genesisTimestampSeconds: newestSeconds });
      const url = await startExplorer(t, {
        services: { redisUrl, postgresUrl: await createDatabase(), upstream: own.url },
        nowMs: shownAtMs,
      });
      await waitForIndex(url, 0);
      return { url };
    }),
  };
}

type Turn = { sealing: Sealing; seconds: number };

const genesisSealing: Sealing = { proposer: 0, round: 0, sealedBy: [] };

/** Who proposes and seals each block, and how long it takes. The fifth validator goes away towards the end. */
function drawTurns(): Turn[] {
  const all = [0, 1, 2, 3, 4];
  const turns: Turn[] = [{ sealing: genesisSealing, seconds: 0 }];
  let next = 0;
  for (let number = 1; number <= height; number += 1) {
    const isAway = number >= awayFrom;
    const isMissed = isAway && next === 4;
    const proposer = isMissed ? 0 : next;
    const here = isAway ? all.slice(0, 4) : all;
    // Besu keeps what a validator saw in time: now and then a healthy one is not among them.
    const late = number % 3 === 0 && !isAway ? number % 5 : -1;
    turns.push({
      sealing: { proposer, round: isMissed ? 1 : 0, sealedBy: here.filter((index) => index !== late) },
      seconds: isMissed ? 6 : 2 + (number % 29 === 0 ? 1 : 0),
    });
    next = (proposer + 1) % 5;
  }
  return turns;
}

async function writeContracts(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-pages-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const abi: unknown = JSON.parse(marketAbi.formatJson());
  await writeFile(
    join(folder, "market.json"),
    JSON.stringify({ name: "Market", address: market, deployedAtBlock: 1, abi }),
  );
  return folder;
}

/** No contract takes the platform's fees yet: what its index would hold is written by hand. */
async function writeBurns(postgresUrl: string): Promise<void> {
  const connection = await connectPostgres({ url: postgresUrl, name: "pages", logger: silent });
  try {
    for (const [index, source] of ["payments", "ppob", "svc_dev", "tournaments"].entries()) {
      for (let day = 0; day < 20; day += 1) {
        const amount = BigInt(1 + ((day * 7 + index * 3) % 11)) * 10n ** 18n;
        const [burned, treasury] = [(amount * 30n) / 100n, (amount * 70n) / 100n];
        // Days are counted by PostgreSQL's clock.
        const date = new Date(Date.now() - day * 86_400_000).toISOString().slice(0, 10);
        await connection.query(
          "insert into chain.burn_total (source, day, payments, amount, burned, treasury) values ($1, $2, $3, $4, $5, $6)",
          [source, date, 1 + (day % 4), String(amount), String(burned), String(treasury)],
        );
      }
    }
  } finally {
    await connection.end();
  }
}

const silent = pino({ level: "silent" });

/** Stands before a service that is to go away. */
async function startProxy(address: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = new URL(address);
  const port = Number(url.port);
  const proxy = await startTcpProxy({ port: () => port, answer: (client, data) => client.write(data) });
  url.port = String(proxy.port);
  return { url: url.href, stop: proxy.stop };
}

export function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}
