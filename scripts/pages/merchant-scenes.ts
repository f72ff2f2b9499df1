import type { Page } from "playwright-core";
import { oneWallet, twoWallets } from "./browser-wallets.ts";
import type { Scene } from "./scene.ts";
import type { MerchantSites } from "./sites/merchant-sites.ts";

const postForKey = `{
  const form = document.createElement("form");
  form.method = "post";
  form.action = location.pathname + "/key";
  document.body.append(form);
  form.submit();
}`;

/** The merchants' pages and their states. */
export async function merchantScenes({ shop, sessions }: MerchantSites): Promise<Scene[]> {
  const { url, paths, webhooks } = await shop();
  const open = async () => ({ url });
  const scene = (name: string, title: string, path: string, more: Partial<Scene> = {}): Scene => ({
    ...{ name: `merchant-${name}`, title, path, open },
    ...more,
  });
  const of = (session: keyof MerchantSites["sessions"]) => ({
    cookie: async () => (await sessions[session]()).cookie,
  });
  const customer = of("customer");
  const press = async (page: Page) => {
    await page.locator("#wallets button").first().click();
    await page.locator("#outcome[data-kind=bad]").waitFor();
  };
  const decline = async (page: Page) => {
    await page.locator("#pay").click();
    await page.locator("#outcome[data-kind=bad]").waitFor();
  };
  const withoutScopes = async (page: Page) => {
    for (const box of await page.locator("[name=scope]").all()) await box.uncheck();
    await page.locator("form.order-form button").click();
    await page.locator(".alarm").waitFor();
  };
  const orderForNothing = async (page: Page) => {
    await page.locator("#amountIdr").fill("12,5");
    await page.locator("#redirectUrl").fill("javascript:alert(1)");
    await page.locator("form.order-form button").click();
    await page.locator("form [aria-invalid=true]").first().waitFor();
  };
  // Whoever lost the answer may ask again for some minutes: so each look has one.
  const askAgain = async (page: Page) => {
    await page.evaluate(postForKey);
    await page.locator("#secret .copyable").waitFor();
  };
  const withPassword = async (page: Page) => {
    await page.locator("#url").fill("https://shop:secret@shop.example/hook");
    await page.locator("form:has(#url) button").click();
    await page.locator("#url-error").waitFor();
  };
  const askForSecret = async (page: Page) => {
    await page.evaluate(postForKey.replace("/key", "/webhook"));
    await page.locator("#secret .copyable").waitFor();
  };
  const saveSettings = async (page: Page) => {
    await page.locator("#displayName").fill("Toko Batik Sari Rahayu");
    await page.locator("#contact").fill("WhatsApp +62 812-0000-0000, Senin–Sabtu 9–17");
    await page.locator("#language").selectOption("id");
    await page.locator("form:has(#displayName) button").click();
    await page.locator(".done").waitFor();
  };
  const invisibleName = async (page: Page) => {
    await page.locator("#displayName").fill("Bank\u202e Sari");
    await page.locator("form:has(#displayName) button").click();
    await page.locator("#displayName-fault").waitFor();
  };
  const told = (page: Page) =>
    page.locator("#wallets-text", { hasText: /no wallet|tidak punya dompet/ }).waitFor();
  return [
    scene("sign-in", "Signing in, without a wallet", "/merchant", { act: told, differsWithoutScripts: true }),
    scene("wallets", "Two wallets", "/merchant", { script: twoWallets }),
    scene("declined", "The wallet declines", "/merchant", { script: oneWallet, act: press }),
    scene("elsewhere", "By another name of the server", "/merchant", {
      open: async () => ({ url: url.replace("127.0.0.1", "localhost") }),
    }),
    scene("begin", "Somebody who has just come", "/merchant", of("newcomer")),
    scene("overview", "The end of a day", "/merchant", customer),
    scene("no-invoices", "No invoices yet", "/merchant/invoices", of("newcomer")),
    scene("invoices", "Invoices", "/merchant/invoices", customer),
    scene("invoices-found", "A search", "/merchant/invoices?q=sinar&state=paid_late", customer),
    scene("invoices-none", "A search that finds nothing", "/merchant/invoices?q=nobody", customer),
    scene("new-invoice", "A new invoice", "/merchant/invoices/new", customer),
    scene("new-invoice-fault", "An invoice that cannot be", "/merchant/invoices/new", {
      ...customer,
      act: orderForNothing,
    }),
    scene("invoice-made", "An invoice that was just made", `${paths.openInvoice}?done=made`, customer),
    scene("invoice-underpaid", "An invoice with a part paid", paths.underpaid, customer),
    scene("invoice-paid", "A paid invoice", paths.paidInvoice, customer),
    scene("invoice-overpaid", "An invoice with too much paid", paths.overpaid, customer),
    scene("invoice-expired", "An invoice that ran out", paths.expiredInvoice, customer),
    scene("invoice-late", "An invoice that was paid late", paths.late, customer),
    scene("invoice-canceled", "A canceled invoice", paths.canceled, customer),
    scene("invoice-missing", "No such invoice", "/merchant/invoices/inv_0000000000000000000000", customer),
    scene("cancel-invoice", "Canceling an invoice", `${paths.openInvoice}/cancel`, customer),
    scene("refund", "Giving back what is too much", `${paths.overpaid}/refund`, {
      ...customer,
      script: oneWallet,
      differsWithoutScripts: true,
    }),
    scene("refund-nothing", "Nothing to give back", `${paths.paidInvoice}/refund`, customer),
    scene("no-keys", "No keys yet", "/merchant/keys", of("newcomer")),
    scene("keys", "Keys, and orders that wait", "/merchant/keys", {
      ...customer,
      differsWithoutScripts: true,
    }),
    scene("revoked", "A key was revoked", "/merchant/keys?done=revoked", customer),
    scene("buy", "Buying a key", "/merchant/buy", customer),
    scene("buy-fault", "A form that cannot be", "/merchant/buy", { ...customer, act: withoutScopes }),
    scene("key-limit", "As many keys as can be", "/merchant/buy", of("collector")),
    scene("order", "An order to be paid", paths.open, {
      ...customer,
      script: oneWallet,
      differsWithoutScripts: true,
    }),
    scene("order-declined", "The payment is declined", paths.open, {
      ...customer,
      script: oneWallet,
      act: decline,
    }),
    scene("order-sent", "A payment on its way", paths.sent, { ...customer, script: oneWallet }),
    scene("order-reverted", "A payment that the contract refused", paths.reverted, {
      ...customer,
      script: oneWallet,
    }),
    scene("order-expired", "An order that ran out", paths.expired, customer),
    scene("secret", "The key, once", paths.used, { ...customer, act: askAgain }),
    scene("order-paid", "A paid order", paths.paid, customer),
    scene("order-used", "An order whose key was taken", paths.used, customer),
    scene("order-missing", "No such order", "/merchant/orders/ord_0000000000000000000000", customer),
    scene("revoke", "Revoking a key", paths.key, customer),
    scene("webhooks-first", "A first URL", "/merchant/webhooks", of("newcomer")),
    scene("webhooks-fault", "A URL that cannot be", "/merchant/webhooks", {
      ...of("newcomer"),
      act: withPassword,
    }),
    scene("webhook-order", "A webhook's fee to be paid", webhooks.open, {
      ...of("ordering"),
      script: oneWallet,
      differsWithoutScripts: true,
    }),
    scene("webhook-paid", "A webhook's fee is paid", webhooks.paid, of("paying")),
    scene("webhook-used", "A webhook's order, done", webhooks.orderPath, of("collector")),
    scene("webhook-secret", "A webhook's secret, once", webhooks.orderPath, {
      ...of("collector"),
      act: askForSecret,
    }),
    scene("webhooks", "A webhook that works, and its log", "/merchant/webhooks", of("collector")),
    scene("webhooks-replayed", "Sent again", "/merchant/webhooks?done=replayed&count=3", of("collector")),
    scene("webhooks-filtered", "One state of the log", "/merchant/webhooks?state=dead", of("collector")),
    scene("webhooks-disabled", "A webhook that was disabled", "/merchant/webhooks", of("disabled")),
    scene("webhook-rotate", "Changing a secret", "/merchant/webhooks/rotate", of("disabled")),
    scene("webhook-test", "A test that arrived", `${webhooks.arrived}?done=tested`, of("collector")),
    scene("webhook-failed", "A test that did not arrive", `${webhooks.failed}?done=tested`, of("collector")),
    scene("webhook-missing", "No such event", "/merchant/webhooks/events/evt_0", of("collector")),
    scene("settings", "Settings", "/merchant/settings", of("newcomer")),
    scene("settings-saved", "Settings were saved", "/merchant/settings", { ...customer, act: saveSettings }),
    scene("settings-fault", "A name that cannot be", "/merchant/settings", {
      ...of("newcomer"),
      act: invisibleName,
    }),
    scene("sessions", "Sessions", "/merchant/sessions", customer),
  ];
}
