// @ts-check
import { askForPage } from "./ask-for-page.js";
import { setClock, startCountdown } from "./countdown.js";
import { byId, say } from "./elements.js";
import { createPageParts, tellOutcome as tell } from "./page-parts.js";
import { createWalletPayment } from "./pay-with-wallet.js";
import { listen } from "./payment-events.js";
import { forgetSent, onSentElsewhere, rememberSent, sentHash } from "./sent-payment.js";

/** A payment that the network does not know after so many looks is lost, and can be made anew. */
const looksForUnknownMax = 15;
const payingMs = 1500;
/** Without events the page asks by itself. */
const idleMs = 10_000;

/** @returns {Readonly<Record<string, string | undefined>>} what the server has said of the payment */
const said = () => byId("checkout").dataset;

let unknownLooks = 0;
/** @type {Promise<void> | undefined} */
let asking;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Lets a wallet pay, and shows how the payment stands: by the server's events, and by asking while one is on its way. */
export function followPayment() {
  const parts = createPageParts(["state", "amounts", "deadline", "actions", "arrived", "back", "ways"]);
  const payment = createWalletPayment({
    data: said,
    isDue: canPay,
    tell,
    async onSent(hash) {
      rememberSent(hash);
      await refresh();
    },
    async isStillDue() {
      const before = said()["transaction"];
      const isAsked = await refresh();
      const after = said()["transaction"];
      if (!isAsked || after === "") return false;
      if (after === before) return true;
      tell(say("changed"), "bad");
      return false;
    },
  });

  /** Whether the server has answered. */
  async function refresh() {
    asking ??= renew().finally(() => {
      asking = undefined;
    });
    await asking;
    return byId("outcome").textContent !== say("noAnswer");
  }

  async function renew() {
    const asked = await askForPage(location.pathname + location.search).catch(() => undefined);
    const fresh = asked?.page.getElementById("checkout");
    if (asked === undefined || fresh === null || fresh === undefined) return tell(say("noAnswer"), "bad");
    const wasPaying = isPaying();
    Object.assign(byId("checkout").dataset, { ...fresh.dataset });
    setClock(Number(said()["now"]));
    parts.renew(asked.page);
    if (wasPaying || byId("outcome").textContent === say("noAnswer") || !canPay()) tell("");
    if (!canPay()) byId("wallets").replaceChildren();
    unknownLooks = said()["payment"] === "unknown" ? unknownLooks + 1 : 0;
    if (said()["events"] === "" || unknownLooks >= looksForUnknownMax) forgetSent();
    // What was sent before has been booked, and a part is still missing.
    else if (wasPaying && said()["payment"] === "none") forgetSent();
    if (canPay()) payment.offer();
    events.follow();
    askLater();
  }

  /** While a payment is on its way, or no events come. */
  function askLater() {
    clearTimeout(timer);
    if (said()["events"] === "") return;
    const waitMs = isPaying() || said()["phase"] === "ending" ? payingMs : idleMs;
    if (waitMs === idleMs && events.isListening()) return;
    timer = setTimeout(() => {
      if (document.visibilityState === "visible") void refresh();
      else askLater();
    }, waitMs);
  }

  const events = listen({
    path: () => said()["events"] ?? "",
    seen: () => said()["version"] ?? "",
    onChange: () => void refresh(),
    onClock: setClock,
    onLost: askLater,
  });
  setClock(Number(said()["now"]));
  if (resumePayment()) return;
  onSentElsewhere((hash) => {
    history.replaceState(null, "", `${location.pathname}?tx=${hash}`);
    void refresh();
  });
  payment.start(byId("checkout"));
  startCountdown(
    () => Number.parseInt(said()["ends"] ?? "", 10),
    () => void refresh(),
  );
  events.follow();
  askLater();
}

/** A payment that was sent from here is followed, though the page was left and opened anew. */
function resumePayment() {
  const sent = sentHash();
  if (said()["events"] === "" || location.search.includes("tx=") || sent === "") return false;
  location.replace(`${location.pathname}?tx=${sent}`);
  return true;
}

function canPay() {
  return said()["transaction"] !== "";
}

function isPaying() {
  const { payment } = said();
  return payment !== "none" && payment !== "reverted";
}
