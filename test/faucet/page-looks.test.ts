import t from "tap";
import { faucetScenes } from "../../scripts/pages/outer-scenes.ts";
import { openFaucetSites } from "../../scripts/pages/sites/faucet-sites.ts";
import { startChromium } from "../helpers/chromium.ts";
import { examinePages, twoLooks } from "../helpers/examine-pages.ts";

t.setTimeout(300_000);
const browser = await startChromium(t);

t.test(
  "everybody can use the faucet's page in every state, in both languages and colours, at 320 and 1280 px",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    const scenes = faucetScenes(openFaucetSites(t));
    const { looks } = await examinePages(t, { browser, scenes, looksOf: twoLooks });
    t.equal(looks, 2 * scenes.length);
  },
);
