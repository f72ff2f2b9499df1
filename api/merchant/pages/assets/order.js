// @ts-check
import { askForPage } from "./ask-for-page.js";
import { byId, say } from "./elements.js";
import { createPageParts, tellOutcome as tell } from "./page-parts.js";
import { createWalletPayment } from "./pay-with-wallet.js";
import { forgetSent, rememberSent, sentHash } from "./sent-payment.js";

/** A payment that the network does not know after so many looks is lost, and can be made anew. */
const looksForUnknownMax = 15;
const payingMs = 1000;
const idleMs = 5000;

let unknownLooks = 0;

/** Lets a wallet pay the order, and shows how the payment stands until the key can be taken. */
export function followOrder() {
  const parts = createPageParts(["steps", "state", "actions", "order-facts"]);
  const payment = createWalletPayment({
    data: () => byId("order").dataset,
    isDue: isUnpaid,
    tell,
    async onSent(hash) {
      rememberSent(hash);
      await refresh({ parts, payment });
    },
  });
  resumePayment();
  payment.start(byId("order"));
  void keepFresh({ parts, payment });
}

/** @typedef {{ parts: ReturnType<typeof createPageParts>, payment: { offer(): void } }} Shown */

/** A payment that was sent from here is followed, though the page was left and opened anew. */
function resumePayment() {
  const sent = sentHash();
  const isNew = isOpen() && !location.search.includes("tx=");
  if (isNew && sent !== "") location.replace(`${location.pathname}?tx=${sent}`);
}

/** Asks again and again how the order stands, until there is nothing to wait for. @param {Shown} shown */
async function keepFresh(shown) {
  let waitMs = payingMs;
  while (isOpen()) {
    const isWaiting = isUnpaid();
    await new Promise((resolve) => setTimeout(resolve, isWaiting ? idleMs : waitMs));
    // In an outage it asks ever less often.
    waitMs = isWaiting ? payingMs : Math.min(idleMs, waitMs * 1.2);
    if (document.visibilityState === "visible") await refresh(shown);
  }
}

/** @param {Shown} shown */
async function refresh({ parts, payment }) {
  const asked = await askForPage(location.pathname + location.search).catch(() => undefined);
  const fresh = asked?.page.getElementById("order");
  // Somebody has signed out elsewhere.
  if (asked?.page.getElementById("sign-in")) return location.reload();
  if (asked === undefined || fresh === null || fresh === undefined) return tell(say("noAnswerPaid"), "bad");
  const before = byId("order").dataset["status"];
  const wasPaying = byId("order").dataset["payment"] !== "none";
  Object.assign(byId("order").dataset, {
    status: fresh.dataset["status"],
    payment: fresh.dataset["payment"],
  });
  parts.renew(asked.page);
  if (!isUnpaid() || wasPaying) tell("");
  unknownLooks = fresh.dataset["payment"] === "unknown" ? unknownLooks + 1 : 0;
  if (!isOpen() || unknownLooks >= looksForUnknownMax) forgetSent();
  if (isOpen() && isUnpaid()) payment.offer();
  if (before === "open" && byId("order").dataset["status"] === "paid") {
    const button = byId("actions").querySelector("button");
    button?.focus();
  }
}

function isOpen() {
  return byId("order").dataset["status"] === "open";
}

/** Nothing was sent from here, or it did not go through. */
function isUnpaid() {
  const { payment } = byId("order").dataset;
  return isOpen() && (payment === "none" || payment === "reverted");
}
