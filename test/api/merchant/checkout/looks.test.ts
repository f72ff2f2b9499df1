import t from "tap";
import { checkoutScenes } from "../../../../scripts/pages/checkout-scenes.ts";
import { openCheckoutSites } from "../../../../scripts/pages/sites/checkout-sites.ts";
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
  "everybody can use payment pages in every state, in both languages and colours, at 320 and 1280 px",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const { url: redisUrl } = await startRedis(t);
    const sites = openCheckoutSites(t, { redisUrl, createDatabase: () => createDatabase(t) });
    const scenes = await checkoutScenes(sites);
    const { looks, heaviest } = await examinePages(t, { browser, scenes, looksOf });
    t.ok(looks >= 2 * scenes.length);
    t.ok(heaviest.bytes < heaviestBytesMax, `${heaviest.name} has ${heaviest.bytes} bytes with its files`);
    t.comment(`${looks} looks; the heaviest page: ${heaviest.name}, ${heaviest.bytes} bytes with its files`);

    const { url, paths } = await sites.checkout();
    const page = await browser.newPage();
    t.teardown(() => page.close());
    await page.goto(`${url}${paths.paid}/receipt`);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const colours = await page.evaluate(
      "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor].join()",
    );
    t.equal(colours, "rgb(0, 0, 0),rgb(255, 255, 255)", "on paper a receipt is black on white");
    t.equal(await page.locator(".actions:visible, button:visible").count(), 0, "with nothing to press");
    t.match(
      (await page.pdf({ preferCSSPageSize: true })).toString("latin1"),
      /\/MediaBox \[0 0 59[45][.\d]* 84[12]/,
      "A4",
    );
  },
);
