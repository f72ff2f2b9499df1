import t from "tap";
import { walletProxyScenes } from "../../../scripts/pages/outer-scenes.ts";
import { openWalletProxySites } from "../../../scripts/pages/sites/wallet-proxy-sites.ts";
import { startChromium } from "../../helpers/chromium.ts";
import { examinePages, twoLooks } from "../../helpers/examine-pages.ts";

t.setTimeout(300_000);
const browser = await startChromium(t);

t.test(
  "everybody can use the wallet proxy's page in every state, in both languages and colours, at 320 and 1280 px",
  { skip: browser === undefined && "there is no chromium" },
  async (t) => {
    if (browser === undefined) return;
    // What is not found is a line of text, for programs and people alike.
    const scenes = walletProxyScenes(openWalletProxySites(t)).filter(
      ({ name }) => name !== "wallet-proxy-missing",
    );
    const { looks } = await examinePages(t, { browser, scenes, looksOf: twoLooks });
    t.equal(looks, 2 * scenes.length);
  },
);
