import t from "tap";
import { createPages } from "../../../api/explorer/create-pages.ts";
import { explorerScenes } from "../../../scripts/pages/explorer-scenes.ts";
import { openExplorerSites } from "../../../scripts/pages/sites/explorer-sites.ts";
import { startChromium } from "../../helpers/chromium.ts";
import { allLooks, examinePages, twoLooks } from "../../helpers/examine-pages.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";

/** `LOOKS=all`: sixteen of each page, which takes minutes. */
const looksOf = process.env["LOOKS"] === "all" ? allLooks : twoLooks;
const heaviestBytesMax = 100_000;

t.setTimeout(600_000);
const browser = await startChromium(t);

t.test(
  "everybody can use every page of the explorer in every state, in both languages and colours, at 320 and 1280 px",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url: redisUrl } = await startRedis(t);
    const sites = await openExplorerSites(t, { redisUrl, createDatabase: () => createDatabase(t) });
    const scenes = explorerScenes(sites).map(({ site, ...scene }) => ({
      ...scene,
      hasFixedClock: true,
      open: () => site(sites),
    }));
    for (const { path } of createPages({ routes: [], isDevelopment: true })) {
      const shape = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}($|\\?)`);
      t.ok(
        scenes.some((scene) => shape.test(scene.path)),
        `${path} is among them`,
      );
    }
    const { looks, heaviest } = await examinePages(t, { browser, scenes, looksOf });
    t.ok(looks >= 2 * scenes.length);
    t.ok(heaviest.bytes < heaviestBytesMax, `${heaviest.name} has ${heaviest.bytes} bytes with its files`);
    t.comment(`${looks} looks; the heaviest page: ${heaviest.name}, ${heaviest.bytes} bytes with its files`);
  },
);
