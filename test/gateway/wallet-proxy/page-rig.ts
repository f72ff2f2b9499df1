import { fileURLToPath } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "tap";
import { type ProxyUnderTest, startProxy, startTarget, type TargetUnderTest } from "./rig.ts";

/** A wallet in the page, and what it answers wallet_addEthereumChain with. */
export type Wallet = {
  name: string;
  answer: "accepts" | { code: number; message: string };
  /** By EIP-6963; one that does not only sets `window.ethereum`. */
  announces: boolean;
};

export type ShowOptions = BrowserContextOptions & {
  wallets?: readonly Wallet[];
  /** The page's time stands until the test moves it. */
  hasClock?: boolean;
  /** Where the page leads for test tokens. */
  faucetUrl?: string;
};

export type Shown = {
  page: Page;
  proxy: ProxyUnderTest;
  target: TargetUnderTest;
  /** What the console says, errors of scripts, violations of the policy, requests that failed. */
  problems: string[];
  /** What the wallets were asked. */
  walletRequests(): Promise<unknown>;
};

export const amber: Wallet = { name: "Amber Wallet", answer: "accepts", announces: true };

const walletsFile = fileURLToPath(new URL("injected-wallets.js", import.meta.url));

/** The proxy's page in a browser with these wallets, before a gateway's stand-in at block 74 565. */
export async function showPage(
  t: Test,
  browser: Browser,
  { wallets = [amber], hasClock = false, faucetUrl = "", ...contextOptions }: ShowOptions = {},
): Promise<Shown> {
  const target = await startTarget(t);
  answerAsChain(target, "0x228d");
  const proxy = await startProxy(t, { gatewayUrl: target.url, faucetUrl });
  const context = await browser.newContext(contextOptions);
  t.teardown(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("requestfailed", (failed) => {
    const why = failed.failure()?.errorText ?? "";
    // What a page still asks for when its reader goes on is broken off.
    if (why !== "net::ERR_ABORTED") problems.push(`${failed.url()} failed: ${why}`);
  });
  if (hasClock) await page.clock.install();
  await page.addInitScript({ content: `globalThis.walletsUnderTest = ${JSON.stringify(wallets)};` });
  await page.addInitScript({ path: walletsFile });
  await page.goto(proxy.url);
  return { page, proxy, target, problems, walletRequests: () => page.evaluate("walletRequests") };
}

export function answerAsChain(target: TargetUnderTest, chainId: string): void {
  target.answerWith((response, { body }) => {
    const result = body.includes("eth_chainId") ? chainId : "0x12345";
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  });
}

/** Waits until a screen reader would be told this. */
export async function isTold(page: Page, text: string): Promise<void> {
  await page.getByRole("status").filter({ hasText: text }).waitFor();
}
