import { oneWallet } from "./browser-wallets.ts";
import type { Scene } from "./scene.ts";
import type { CheckoutSite } from "./sites/checkout-sites.ts";

/** The payment pages and their states. */
export async function checkoutScenes({
  checkout,
}: {
  checkout: () => Promise<CheckoutSite>;
}): Promise<Scene[]> {
  const { url, paths } = await checkout();
  const open = async () => ({ url });
  const scene = (name: string, title: string, path: string, more: Partial<Scene> = {}): Scene => ({
    ...{ name: `checkout-${name}`, title, path, open },
    ...more,
  });
  return [
    scene("waiting", "A payment link", paths.waiting, { differsWithoutScripts: true }),
    scene("wallet", "With a wallet in the browser", paths.waiting, { script: oneWallet }),
    scene("declined", "The wallet declines", paths.waiting, {
      script: oneWallet,
      async act(page) {
        await page.locator("#pay").click();
        await page.locator("#outcome[data-kind=bad]").waitFor();
      },
    }),
    scene("plain", "Of a shop that has said nothing of itself", paths.plain),
    scene("short", "A part has arrived", paths.short, { script: oneWallet }),
    scene("sent", "A payment on its way", paths.sent),
    scene("reverted", "A payment that the contract refused", paths.reverted, { script: oneWallet }),
    scene("ending", "Time is up, and not booked yet", paths.ending),
    scene("short-over", "A part has arrived, and time is up", paths.shortOver),
    scene("paid", "Paid", paths.paid),
    scene("overpaid", "Paid too much", paths.overpaid),
    scene("late", "Paid late", paths.late),
    scene("expired", "Nothing arrived in time", paths.expired),
    scene("canceled", "Cancelled by the shop", paths.canceled),
    scene("missing", "No such link", "/pay/0000000000000000000000"),
    scene("receipt", "A receipt", `${paths.paid}/receipt`, { differsWithoutScripts: true }),
    scene("receipt-overpaid", "A receipt of two payments", `${paths.overpaid}/receipt`),
    scene("receipt-unpaid", "A receipt of what is not paid", `${paths.short}/receipt`),
  ];
}
