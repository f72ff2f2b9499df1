// @ts-check
import { askForPage } from "./ask-for-page.js";
import { byId } from "./elements.js";
import { createPageParts, tellOutcome } from "./page-parts.js";
import { createWalletPayment } from "./pay-with-wallet.js";

const everyMs = 5000;

/** Shows what comes for an invoice while it waits, without loading the page again. */
export async function followInvoice() {
  const parts = createPageParts([
    "invoice-state",
    "invoice-actions",
    "invoice-link",
    "invoice-facts",
    "timeline",
  ]);
  while (byId("invoice").dataset["follow"] === "true") {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (document.visibilityState !== "visible") continue;
    const page = (await askForPage(location.pathname).catch(() => undefined))?.page;
    // Somebody has signed out elsewhere.
    if (page?.getElementById("sign-in")) return location.reload();
    const fresh = page?.getElementById("invoice");
    if (page === undefined || fresh === null || fresh === undefined) continue;
    byId("invoice").dataset["follow"] = fresh.dataset["follow"];
    parts.renew(page);
  }
}

/** Has a wallet send back what was too much; what it has sent is shown, and not sent again from here. */
export function offerRefund() {
  let sent = false;
  const payment = createWalletPayment({
    data: () => byId("refund").dataset,
    isDue: () => !sent,
    tell: tellOutcome,
    async onSent(hash) {
      sent = true;
      const place = byId("refund-sent");
      const code = place.querySelector("code");
      if (code !== null) code.textContent = hash;
      place.hidden = false;
      tellOutcome("");
    },
  });
  payment.start(byId("refund"));
}
