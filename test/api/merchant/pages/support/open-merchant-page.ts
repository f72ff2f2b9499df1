import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Test } from "tap";
import { type BrowserWallet, injectWallets } from "../../../../fakes/browser-wallet/browser-wallet.ts";
import { recordProblems } from "../../../../helpers/page-problems.ts";

type Cookies = Parameters<BrowserContext["addCookies"]>[0];
export type OpenOptions = BrowserContextOptions & { wallets?: BrowserWallet[]; cookies?: Cookies };

/** A page of a browser with these wallets and cookies, and what goes wrong in it; that a page is refused is none. */
export async function openMerchantPage(
  t: Test,
  { browser, url, wallets = [], cookies = [], ...options }: OpenOptions & { browser: Browser; url: string },
): Promise<{ page: Page; problems: readonly string[] }> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  if (wallets.length > 0) await injectWallets(context, wallets);
  await context.addCookies(cookies);
  const page = await context.newPage();
  const problems = recordProblems(page, {
    url,
    isExpected: (message) =>
      message.startsWith("Failed to load resource: the server responded with a status"),
  });
  return { page, problems };
}
