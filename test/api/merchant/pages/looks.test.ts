import t from "tap";
import { merchantRoutes } from "../../../../api/merchant/pages/create-merchant-pages.ts";
import { merchantScenes } from "../../../../scripts/pages/merchant-scenes.ts";
import { openMerchantSites } from "../../../../scripts/pages/sites/merchant-sites.ts";
import { startChromium } from "../../../helpers/chromium.ts";
import { allLooks, examinePages, twoLooks } from "../../../helpers/examine-pages.ts";
import { createDatabase } from "../../../helpers/postgres.ts";
import { startRedis } from "../../../helpers/redis.ts";

/** `LOOKS=all`: sixteen of each page. */
const looksOf = process.env["LOOKS"] === "all" ? allLooks : twoLooks;
/** As the explorer's. */
const heaviestBytesMax = 100_000;

t.setTimeout(300_000);
const browser = await startChromium(t);

t.test(
  "everybody can use merchants' pages in every state, in both languages and colours, at 320 and 1280 px",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url: redisUrl } = await startRedis(t);
    const sites = openMerchantSites(t, { redisUrl, createDatabase: () => createDatabase(t) });
    const scenes = await merchantScenes(sites);
    for (const { method, path } of merchantRoutes) {
      const shape = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}($|\\?)`);
      // Pages with a secret come by a POST; their addresses lead on to the order. A file is no page.
      const isPage = method === "GET" && !/\/orders\/.*\/(?:key|webhook)$|\.csv$/.test(path);
      if (isPage)
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
