import type { Page } from "playwright-core";
import type { Scene } from "./scene.ts";
import type { FaucetSite, FaucetSites } from "./sites/faucet-sites.ts";
import type { WalletProxySites } from "./sites/wallet-proxy-sites.ts";

const wallet = (answer: string) => `(() => {
  const detail = Object.freeze({
    info: Object.freeze({ uuid: "1", name: "Amber Wallet", rdns: "example.wallet",
      icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" }),
    provider: { request: async ({ method }) => { ${answer} } },
  });
  addEventListener("eip6963:requestProvider", () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
})();`;
const accepting = wallet("return null;");
const declining = wallet("throw Object.assign(new Error('no'), { code: 4001 });");

/** The faucet's page and its states. */
export function faucetScenes(sites: FaucetSites): Scene[] {
  const scene = (
    name: string,
    title: string,
    open: () => Promise<FaucetSite>,
    more: { path?: string; claimBy?: (site: FaucetSite) => string[]; until?: string } & Pick<
      Scene,
      "differsWithoutScripts"
    > = {},
  ): Scene => {
    const { path = "/", claimBy, until = "[role=alert]:not(:empty)", ...rest } = more;
    const act = async (page: Page) => {
      for (const address of claimBy?.(await open()) ?? []) {
        await page.locator("#address").fill(address);
        await page.keyboard.press("Enter");
        await page.locator(until).first().waitFor();
      }
    };
    return { name, title, open, path, ...(claimBy === undefined ? {} : { act }), ...rest };
  };
  const unknown = `0x${"0".repeat(38)}ff`;
  const twice = async (page: Page) => {
    await page.locator("#address").fill((await sites.faucet()).nextAddress());
    await page.keyboard.press("Enter");
    await page.locator(confirmed).first().waitFor();
    await page.locator("#claim-button").click();
    await page.waitForLoadState("networkidle");
  };
  return [
    scene("faucet", "The faucet", sites.faucet, { differsWithoutScripts: true }),
    scene("faucet-wrong", "What is no address", sites.faucet, { claimBy: () => ["0x12"] }),
    scene("faucet-unknown", "Not on the allowlist", sites.faucet, { claimBy: () => [unknown] }),
    scene("faucet-confirmed", "A claim that was paid", sites.faucet, {
      claimBy: (site) => [site.nextAddress()],
      until: confirmed,
    }),
    scene("faucet-generous", "A larger allowance", sites.faucet, {
      claimBy: (site) => [site.generousAddress()],
      until: confirmed,
    }),
    { ...scene("faucet-again", "The same address again", sites.faucet), act: twice },
    scene("faucet-waiting", "A claim on its way", sites.faucetWaiting, {
      claimBy: (site) => [site.nextAddress()],
      until: "li[data-step=broadcast][data-state=now]",
    }),
    scene("faucet-paused", "Paused", sites.faucetPaused, { claimBy: (site) => [site.nextAddress()] }),
    {
      ...scene("faucet-chain-away", "The chain away", sites.faucetChainAway),
      act: (page) => page.locator("#now .light[data-state=bad]").waitFor(),
    },
    scene("faucet-redis-away", "Redis away", sites.faucetRedisAway),
    scene("faucet-missing", "A page that is not there", sites.faucet, { path: "/nothing" }),
    scene("faucet-claim-gone", "A claim that is gone", sites.faucet, { path: `/claims/${"ab".repeat(16)}` }),
  ];
}

const confirmed = "li[data-step=confirmed][data-state=done]";

/** The wallet proxy's page and its states. */
export function walletProxyScenes(sites: WalletProxySites): Scene[] {
  const press = async (page: Page) => {
    await page.getByText("Amber Wallet").first().click();
    await page.locator("#outcome:not(:empty)").waitFor();
  };
  return [
    {
      name: "wallet-proxy",
      title: "The wallet proxy, without a wallet",
      path: "/",
      open: sites.walletProxy,
      differsWithoutScripts: true,
    },
    {
      name: "wallet-proxy-wallet",
      title: "With a wallet",
      path: "/",
      open: sites.walletProxy,
      script: accepting,
    },
    {
      name: "wallet-proxy-added",
      title: "The network is added",
      path: "/",
      open: sites.walletProxy,
      script: accepting,
      act: press,
    },
    {
      name: "wallet-proxy-declined",
      title: "The wallet declines",
      path: "/",
      open: sites.walletProxy,
      script: declining,
      act: press,
    },
    { name: "wallet-proxy-away", title: "The gateway away", path: "/", open: sites.walletProxyAway },
    { name: "wallet-proxy-refused", title: "The key refused", path: "/", open: sites.walletProxyRefused },
    {
      name: "wallet-proxy-missing",
      title: "A page that is not there",
      path: "/nothing",
      open: sites.walletProxy,
    },
  ];
}
