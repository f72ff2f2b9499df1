// @ts-check

/**
 * The page works without this script: it saves loading the page anew, and talks to wallets.
 *
 * @typedef {{ id: string, status: string, txHash: string | null, reason?: string }} Claim
 * @typedef {{ request(call: { method: string, params?: unknown[] }): Promise<unknown> }} Provider EIP-1193
 */

const pollMs = 1000;
/** A claim that waits for long, in an outage say, is asked for ever less often. */
const pollMaxMs = 15_000;
const walletWithinMs = 500;

/** @type {Provider | undefined} */
let provider;
/** One key for each address that was typed, so that pressing the button twice claims once. */
const idempotencyKeys = new Map();

const address = byId("address");
const claimButton = byId("claim-button");
const card = byId("claim");

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  // Not `disabled`, which would take the focus away from whoever uses a keyboard.
  if (claimButton.getAttribute("aria-disabled") !== "true") void claim();
});
findWallet();
if (card.dataset["id"] !== "" && isOpen(card.dataset["status"])) void follow(card.dataset["id"] ?? "");

async function claim() {
  const typed = textIn("address").trim();
  if (typed === "") return complain("Type the address that is to get the tokens.");
  complain("");
  claimButton.setAttribute("aria-disabled", "true");
  try {
    const response = await fetch("/claim", {
      method: "POST",
      headers: {
        Accept: "application/json",
        "Content-Type": "application/json",
        "Idempotency-Key": keyFor(typed.toLowerCase()),
      },
      body: JSON.stringify({ address: typed, website: textIn("website") }),
    });
    const answer = await response.json();
    if (response.status === 202) accepted(answer.claim);
    else complain(wordsOf(answer, response.headers.get("Retry-After")));
  } catch {
    complain(
      "The faucet does not answer. Press the button again in a moment: you will not be paid twice, nor forgotten.",
    );
  } finally {
    claimButton.setAttribute("aria-disabled", "false");
  }
}

/** @param {Claim} claim */
function accepted(claim) {
  history.replaceState(null, "", `/claims/${claim.id}`);
  card.dataset["id"] = claim.id;
  card.hidden = false;
  show(claim);
  byId("claim-title").focus();
  void follow(claim.id);
}

/** Asks until the claim has ended, or until another one is followed. @param {string} id */
async function follow(id) {
  for (let waitMs = pollMs; card.dataset["id"] === id && isOpen(card.dataset["status"]); waitMs *= 1.1) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, pollMaxMs)));
    try {
      const response = await fetch(`/claims/${id}`, { headers: { Accept: "application/json" } });
      if (response.status === 404) return vanished();
      if (response.ok) show((await response.json()).claim);
    } catch {
      // The next question may be answered.
    }
  }
}

/** The faucet has lost the claim. Its key is kept: claimed again it is the same claim, and paid once. */
function vanished() {
  card.dataset["id"] = "";
  const outcome = byId("outcome");
  outcome.dataset["kind"] = "bad";
  setText(outcome, "The faucet does not know this claim any more. Claim again: you will not be paid twice.");
}

/** @param {Claim} claim */
function show({ status, txHash, reason }) {
  card.dataset["status"] = status;
  // What was not paid may be claimed anew.
  if (status === "refused") idempotencyKeys.clear();
  const steps = [...card.querySelectorAll("li")];
  const reached = steps.findIndex((step) => step.dataset["step"] === status);
  for (const [index, step] of steps.entries()) {
    const isDone = index < reached || (status === "confirmed" && index === reached);
    step.dataset["state"] = isDone ? "done" : index === reached ? "now" : "todo";
  }
  const outcome = byId("outcome");
  outcome.dataset["kind"] = status === "confirmed" ? "good" : status === "refused" ? "bad" : "";
  setText(
    outcome,
    status === "refused"
      ? `The claim was not paid: ${reason ?? "no reason is known"}. It does not count in any limit.`
      : (steps[reached]?.dataset["says"] ?? ""),
  );
  showTransaction(txHash);
}

/** @param {string | null} txHash */
function showTransaction(txHash) {
  const line = byId("transaction");
  if (txHash === null) {
    line.replaceChildren();
    return;
  }
  if (line.textContent?.includes(txHash)) return;
  const digits = document.createElement("span");
  digits.className = "hash";
  digits.textContent = txHash;
  const explorer = document.body.dataset["explorer"] ?? "";
  if (explorer === "") {
    line.replaceChildren("Transaction ", digits);
    return;
  }
  const link = document.createElement("a");
  link.href = `${explorer.replace(/\/$/, "")}/tx/${txHash}`;
  link.append("Transaction ", digits);
  line.replaceChildren(link);
}

/** Takes the first wallet of this browser that announces itself (EIP-6963), or the one that only sets window.ethereum. */
function findWallet() {
  window.addEventListener("eip6963:announceProvider", (event) => {
    if (event instanceof CustomEvent) offer(event.detail.provider);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    const legacy = /** @type {{ ethereum?: Provider }} */ (/** @type {unknown} */ (window)).ethereum;
    if (legacy !== undefined) offer(legacy);
  }, walletWithinMs);
}

/** @param {Provider} found */
function offer(found) {
  if (provider !== undefined) return;
  provider = found;
  const useWallet = byId("use-wallet");
  useWallet.hidden = false;
  useWallet.addEventListener("click", () => void takeAddress(found));
  const addNetwork = byId("add-network");
  addNetwork.hidden = false;
  addNetwork.addEventListener("click", () => void addTo(found));
}

/** @param {Provider} wallet */
async function takeAddress(wallet) {
  try {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    const [account] = Array.isArray(accounts) ? accounts : [];
    if (typeof account !== "string") return complain("The wallet gave no address.");
    if (address instanceof HTMLInputElement) address.value = account;
    complain("");
    claimButton.focus();
  } catch (error) {
    complain(reasonOf(error, "gave no address"));
  }
}

/** @param {Provider} wallet */
async function addTo(wallet) {
  const outcome = byId("network-outcome");
  setText(outcome, "Answer in your wallet.");
  try {
    const configuration = JSON.parse(document.body.dataset["network"] ?? "{}");
    await wallet.request({ method: "wallet_addEthereumChain", params: [configuration] });
    setText(outcome, "The network is in your wallet.");
  } catch (error) {
    setText(outcome, reasonOf(error, "did not add the network"));
  }
}

/**
 * The numbers are those of EIP-1193 and EIP-1474.
 * @param {unknown} error
 * @param {string} failure
 */
function reasonOf(error, failure) {
  const { code, message } = /** @type {{ code?: number, message?: string }} */ (error ?? {});
  if (code === 4001) return "You declined in the wallet.";
  if (code === -32002) return "The wallet already waits for your answer: open it.";
  return `The wallet ${failure}: ${message ?? "it gave no reason"}`;
}

/**
 * @param {{ detail?: string, errors?: { message: string }[] }} problem
 * @param {string | null} retryAfter
 */
function wordsOf({ detail = "The claim was refused", errors }, retryAfter) {
  const text = errors?.[0]?.message ?? detail.replace("; Retry-After tells when the next is possible", "");
  const again = retryAfter === null ? "" : ` Try again in ${lengthOf(Number(retryAfter))}.`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.${again}`;
}

/** @param {number} seconds */
function lengthOf(seconds) {
  if (seconds >= 7200) return `${Math.ceil(seconds / 3600)} hours`;
  return seconds >= 120 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`;
}

/** @param {string} text */
function complain(text) {
  byId("error").textContent = text;
  if (text === "") address.removeAttribute("aria-invalid");
  else address.setAttribute("aria-invalid", "true");
}

/** @param {string} typed */
function keyFor(typed) {
  const known = idempotencyKeys.get(typed);
  if (known !== undefined) return known;
  // Not randomUUID, which a page without TLS does not have.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const key = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  idempotencyKeys.set(typed, key);
  return key;
}

/** @param {string | undefined} status */
function isOpen(status) {
  return status !== "confirmed" && status !== "refused";
}

/** @param {string} id @returns {string} */
function textIn(id) {
  const field = byId(id);
  return field instanceof HTMLInputElement ? field.value : "";
}

/**
 * Changes a text only where it is another: what is said anew is read out anew.
 * @param {HTMLElement} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
