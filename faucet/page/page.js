// @ts-check

import { askForPage } from "./ask-for-page.js";
import { addCopyButtons } from "./copy.js";
import { byId, say, setText } from "./elements.js";
import { tellLocalTimes } from "./times.js";
import { offerWallets } from "./wallets.js";

/*
 * The page works without this script, which saves loading it anew and talks to wallets: it asks for the same pages as a
 * browser without scripts would, and puts their parts into this one. So every text is written by the server alone.
 */

const followMs = 1000;
/** A claim that waits for long, in an outage say, is asked for ever less often. */
const followMsMax = 15_000;
const idleMs = 5000;
const typingMs = 300;

/** What is put into the page anew where it has changed, by id. */
const parts = ["sum", "steps", "claim-facts", "now", "recent", "languages"];
/** What the server sent last for each part. @type {Map<string, string>} */
const shown = new Map();
/** One key for each address that was typed, so that pressing the button twice claims once. @type {Map<string, string>} */
const idempotencyKeys = new Map();

const address = byId("address");
const claimButton = byId("claim-button");
const card = byId("claim");
let wake = () => {};
/** Counts what was asked for the address, so that a late answer changes nothing. */
let turn = 0;

for (const id of parts) shown.set(id, byId(id).innerHTML);
enhance(document.body);
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  // Not `disabled`, which would take the focus away from whoever uses a keyboard.
  if (claimButton.getAttribute("aria-disabled") !== "true") void claim();
});
address.addEventListener("input", () => void lookUp());
offerWallets({
  onProblem: complain,
  onAddress(account) {
    if (address instanceof HTMLInputElement) address.value = account;
    complain("");
    void lookUp();
    claimButton.focus();
  },
});
// Browsers fill in what was typed before the page was loaded again.
if (typedAddress() !== "" && followed() === "" && byId("error").textContent === "") void lookUp();
void keepFresh();

async function claim() {
  const typed = typedAddress();
  if (typed === "") return complain(say("typeAddress"));
  turn += 1;
  complain("");
  const label = claimButton.textContent ?? "";
  setBusy(say("claiming"), true);
  try {
    const body = new URLSearchParams({ address: typed, website: textIn("website") });
    const { url, page } = await askForPage("/claim", { body, key: keyFor(typed) });
    const [, id] = /\/claims\/([0-9a-f]{32})$/.exec(url) ?? [];
    if (id === undefined) refused(page, typed);
    else accepted(page, id);
  } catch {
    complain(say("noAnswer"));
  } finally {
    setBusy(label, false);
  }
}

/** @param {Document} page @param {string} id */
function accepted(page, id) {
  if (id === followed() && isOpen()) complain(say("underWay"));
  history.replaceState(null, "", `/claims/${id}`);
  card.dataset["id"] = id;
  card.dataset["status"] = "";
  card.hidden = false;
  show(page);
  byId("claim-title").focus();
  wake();
}

/** @param {Document} page @param {string} typed */
function refused(page, typed) {
  const error = page.getElementById("error") ?? page.querySelector("#message p");
  complain(...(error?.childNodes ?? [say("noAnswer")]));
  if (typed.toLowerCase() !== card.dataset["address"]?.toLowerCase()) leaveClaim();
  show(page);
}

/** What is said of one address must not stand above the claim of another. */
function leaveClaim() {
  if (followed() === "") return;
  card.hidden = true;
  for (const name of ["id", "status", "address"]) card.dataset[name] = "";
  history.replaceState(null, "", "/");
}

/** Shows what has changed. @param {Document} page */
function show(page) {
  const fresh = page.getElementById("claim");
  const isSame = fresh !== null && fresh.dataset["id"] === followed();
  for (const id of parts) {
    const isOfClaim = id !== "now" && (id !== "recent" || followed() !== "");
    if (isSame || !isOfClaim) replace(id, page);
  }
  if (!isSame || followed() === "") return;
  const before = card.dataset["status"];
  Object.assign(card.dataset, { status: fresh.dataset["status"], address: fresh.dataset["address"] });
  const outcome = page.getElementById("outcome");
  byId("outcome").dataset["kind"] = outcome?.dataset["kind"] ?? "";
  setText(byId("outcome"), outcome?.textContent ?? "");
  if (isOpen()) return;
  // What has ended is claimed anew the next time: the answer says when that is possible.
  idempotencyKeys.delete((card.dataset["address"] ?? "").toLowerCase());
  if (before !== card.dataset["status"] && card.dataset["status"] === "confirmed") complain("");
}

/** The faucet has lost the claim. Its key is kept: claimed again it is the same claim, and paid once. */
function vanished() {
  card.dataset["id"] = "";
  byId("outcome").dataset["kind"] = "bad";
  setText(byId("outcome"), say("vanished"));
}

/** Says what the address would get, as soon as it is one. */
async function lookUp() {
  turn += 1;
  const [mine, typed] = [turn, typedAddress()];
  complain("");
  setText(claimButton, claimButton.dataset["default"] ?? "");
  await new Promise((resolve) => setTimeout(resolve, typingMs));
  if (mine !== turn || !/^0x[0-9a-f]{40}$/i.test(typed)) return;
  const { page } = await askForPage(`/?address=${typed}`).catch(() => ({ page: undefined }));
  if (mine !== turn || page === undefined) return;
  const label = page.getElementById("claim-button");
  if (label !== null) setText(claimButton, label.textContent ?? "");
  complain(...(page.getElementById("error")?.childNodes ?? []));
}

/** Asks again and again how the claim and the faucet stand; where nobody looks, for an open claim alone. */
async function keepFresh() {
  let waitMs = followMs;
  for (;;) {
    const woken = new Promise((resolve) => {
      wake = () => resolve(true);
      setTimeout(resolve, isOpen() ? waitMs : idleMs);
    });
    waitMs = (await woken) === true ? followMs : Math.min(followMsMax, waitMs * 1.1);
    if (!isOpen() && document.visibilityState !== "visible") continue;
    const id = followed();
    const asked = await askForPage(id === "" ? "/" : `/claims/${id}`).catch(() => undefined);
    if (id !== followed()) continue;
    if (asked?.status === 404) vanished();
    else if (asked?.page.getElementById("now")) show(asked.page);
    else silent();
  }
}

/** @param {(string | ChildNode)[]} what */
function complain(...what) {
  const error = byId("error");
  const text = what.map((each) => (typeof each === "string" ? each : (each.textContent ?? ""))).join("");
  error.replaceChildren(...what);
  tellLocalTimes(error);
  if (text === "") address.removeAttribute("aria-invalid");
  else address.setAttribute("aria-invalid", "true");
}

/** @param {string} label @param {boolean} isBusy */
function setBusy(label, isBusy) {
  setText(claimButton, label);
  claimButton.setAttribute("aria-busy", String(isBusy));
  claimButton.setAttribute("aria-disabled", String(isBusy));
}
/** Puts a part of another page into this one, where the server says another thing than before. @param {string} id @param {Document} page */
function replace(id, page) {
  const fresh = page.getElementById(id);
  if (fresh === null || shown.get(id) === fresh.innerHTML) return;
  shown.set(id, fresh.innerHTML);
  const part = byId(id);
  part.hidden = fresh.hidden;
  part.replaceChildren(...fresh.childNodes);
  enhance(part);
}

/** @param {HTMLElement} within */
function enhance(within) {
  tellLocalTimes(within);
  addCopyButtons(within);
}

function silent() {
  const state = document.getElementById("state");
  if (state === null) return;
  // What comes next is shown whatever it is.
  shown.delete("now");
  setText(state, say("silent"));
}

/** @param {string} typed */
function keyFor(typed) {
  const known = idempotencyKeys.get(typed.toLowerCase());
  if (known !== undefined) return known;
  // Not randomUUID, which a page without TLS does not have.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const key = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  idempotencyKeys.set(typed.toLowerCase(), key);
  return key;
}

/** @param {string} id @returns {string} */
function textIn(id) {
  const field = byId(id);
  return field instanceof HTMLInputElement ? field.value : "";
}

function typedAddress() {
  return textIn("address").trim();
}

/** The id of the claim that is shown, or nothing. */
function followed() {
  return card.dataset["id"] ?? "";
}

function isOpen() {
  const { status } = card.dataset;
  return followed() !== "" && status !== "confirmed" && status !== "refused";
}
