// @ts-check
import { askForPage } from "./ask-for-page.js";
import { addCopyButtons } from "./copy.js";
import { byId, create, say, setText } from "./elements.js";
import { findWallets, reasonOf, useNetwork } from "./providers.js";
import { whileBusy } from "./wallet-button.js";
import { addToList, lastWallet, rememberWallet } from "./wallet-choice.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/** A payment that the network does not know after so many looks is lost, and can be made anew. */
const looksForUnknownMax = 15;
const payingMs = 1000;
const idleMs = 5000;
const weiDigits = 18n;

/** What is put into the page anew where the server says another thing than before. */
const parts = ["steps", "state", "actions", "order-facts"];
/** @type {Map<string, string>} */
const shown = new Map();
/** @type {Wallet[]} */
const wallets = [];
let unknownLooks = 0;

/** Lets a wallet pay the order, and shows how the payment stands until the key can be taken. */
export function followOrder() {
  for (const id of parts) shown.set(id, byId(id).innerHTML);
  resumePayment();
  findWallets({
    onFound(wallet) {
      wallets.push(wallet);
      offerPayment();
    },
    onNone: offerPayment,
  });
  byId("order").addEventListener("click", (event) => {
    const { target } = event;
    if (target instanceof HTMLElement && target.id === "pay") void whileBusy(target, () => choose());
  });
  void keepFresh();
}

/** A payment that was sent from here is followed, though the page was left and opened anew. */
function resumePayment() {
  const sent = sentHash();
  const isNew = isOpen() && !location.search.includes("tx=");
  if (isNew && sent !== "") location.replace(`${location.pathname}?tx=${sent}`);
}

function offerPayment() {
  const button = document.getElementById("pay");
  if (button !== null) button.hidden = wallets.length === 0;
  if (wallets.length === 0 && isUnpaid()) tell(say("noWallet"), "");
  else if (byId("outcome").textContent === say("noWallet")) tell("");
}

/** Of several wallets the one that was used last pays, else whoever pays chooses. */
async function choose() {
  const last = wallets.find(({ info }) => info.rdns !== "" && info.rdns === lastWallet());
  const [only, ...others] = wallets;
  const wallet = last ?? (others.length === 0 ? only : undefined);
  if (wallet !== undefined) return pay(wallet);
  listWallets();
}

function listWallets() {
  if (byId("wallets").childElementCount > 0) return;
  tell(say("chooseToPay"));
  for (const wallet of wallets) addToList(wallet, { word: "payWith", onChoose: () => pay(wallet) });
}

/** @param {Wallet} wallet */
async function pay(wallet) {
  const { provider } = wallet;
  const { wallet: from = "", transaction = "{}", network = "{}" } = byId("order").dataset;
  const { to, value, data } = JSON.parse(transaction);
  tell(say("answerWallet"));
  try {
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    const isOurs = (/** @type {unknown} */ each) => String(each).toLowerCase() === from.toLowerCase();
    if (!Array.isArray(accounts) || !accounts.some(isOurs)) {
      if (wallets.length > 1) listWallets();
      return tell(say("otherAccount", { address: from }), "bad");
    }
    if (!(await useNetwork(provider, JSON.parse(network)))) return tell(say("noRpcUrl"), "bad");
    const balance = await balanceOf(provider, from);
    if (balance !== undefined && balance < BigInt(value)) return tellNotEnough(balance);
    const call = { from, to, value: `0x${BigInt(value).toString(16)}`, data };
    const hash = String(await provider.request({ method: "eth_sendTransaction", params: [call] }));
    rememberWallet(wallet);
    remember(hash);
    history.replaceState(null, "", `${location.pathname}?tx=${hash}`);
    byId("wallets").replaceChildren();
    const button = document.getElementById("pay");
    if (button !== null) button.hidden = true;
    tell(say("sent"));
    await refresh();
  } catch (error) {
    tell(reasonOf(error), "bad");
  }
}

/** Unknown where the wallet does not say: it tells by itself what it cannot pay. @param {Wallet["provider"]} provider @param {string} address */
async function balanceOf(provider, address) {
  try {
    return BigInt(String(await provider.request({ method: "eth_getBalance", params: [address, "latest"] })));
  } catch {
    return undefined;
  }
}

/** @param {bigint} balance */
function tellNotEnough(balance) {
  const { amount = "", faucet = "", network = "{}" } = byId("order").dataset;
  const { nativeCurrency } = JSON.parse(network);
  const tokens = Number(balance) / Number(10n ** weiDigits);
  const format = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 4 });
  tell(
    say("notEnough", { balance: `${format.format(tokens)} ${nativeCurrency?.symbol ?? ""}`, amount }),
    "bad",
  );
  if (faucet === "") return;
  const link = create("a", { text: say("toFaucet") });
  link.href = faucet;
  byId("outcome").append(" ", link);
}

/** Asks again and again how the order stands, until there is nothing to wait for. */
async function keepFresh() {
  let waitMs = payingMs;
  while (isOpen()) {
    const isWaiting = isUnpaid();
    await new Promise((resolve) => setTimeout(resolve, isWaiting ? idleMs : waitMs));
    // In an outage it asks ever less often.
    waitMs = isWaiting ? payingMs : Math.min(idleMs, waitMs * 1.2);
    if (document.visibilityState === "visible") await refresh();
  }
}

async function refresh() {
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
  for (const id of parts) replace(id, asked.page);
  if (!isUnpaid() || wasPaying) tell("");
  unknownLooks = fresh.dataset["payment"] === "unknown" ? unknownLooks + 1 : 0;
  if (!isOpen() || unknownLooks >= looksForUnknownMax) forget();
  if (isOpen() && isUnpaid()) offerPayment();
  if (before === "open" && byId("order").dataset["status"] === "paid") {
    const button = byId("actions").querySelector("button");
    button?.focus();
  }
}

/** @param {string} id @param {Document} page */
function replace(id, page) {
  const fresh = page.getElementById(id);
  if (fresh === null || shown.get(id) === fresh.innerHTML) return;
  shown.set(id, fresh.innerHTML);
  byId(id).replaceChildren(...fresh.childNodes);
  addCopyButtons(byId(id));
}

function isOpen() {
  return byId("order").dataset["status"] === "open";
}

/** Nothing was sent from here, or it did not go through. */
function isUnpaid() {
  const { payment } = byId("order").dataset;
  return isOpen() && (payment === "none" || payment === "reverted");
}

/** In this tab alone, by the order's path. */
function sentHash() {
  try {
    return sessionStorage.getItem(location.pathname) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} hash */
function remember(hash) {
  try {
    sessionStorage.setItem(location.pathname, hash);
  } catch {
    // The address has it as well.
  }
}

function forget() {
  try {
    sessionStorage.removeItem(location.pathname);
  } catch {
    // There was none.
  }
  history.replaceState(null, "", location.pathname);
}

/**
 * @param {string} text
 * @param {"good" | "bad" | ""} [kind]
 */
function tell(text, kind = "") {
  const outcome = byId("outcome");
  outcome.dataset["kind"] = kind;
  setText(outcome, text);
}
