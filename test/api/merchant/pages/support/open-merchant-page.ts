import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "tap";
import { type BrowserWallet, injectWallets } from "../../../../fakes/browser-wallet/browser-wallet.ts";

export type OpenOptions = BrowserContextOptions & { wallets?: BrowserWallet[] };

/** A page of a browser with these wallets, and what goes wrong in it: errors, rules that are broken, others that are asked. */
export async function openMerchantPage(
  t: Test,
  { browser, url, wallets = [], ...options }: OpenOptions & { browser: Browser; url: string },
): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  if (wallets.length > 0) await injectWallets(context, wallets);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    const isStatus = message.text().startsWith("Failed to load resource: the server responded with a status");
    if (message.type() === "error" && !isStatus) problems.push(message.text());
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== url && protocol !== "data:") problems.push(`asked ${request.url()}`);
  });
  return { page, problems };
}
