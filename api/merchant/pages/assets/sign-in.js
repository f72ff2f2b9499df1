// @ts-check
import { askForPage } from "./ask-for-page.js";
import { byId, say, setText } from "./elements.js";
import { findWallets, reasonOf, useNetwork } from "./providers.js";
import { addToList, rememberWallet } from "./wallet-choice.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

const { root = "./" } = document.body.dataset;
const timeoutMs = 15_000;

/** Offers each wallet of this browser to sign in with. */
export function offerSignIn() {
  const { origin = "" } = byId("sign-in").dataset;
  if (location.origin !== origin) return leadToOrigin(origin);
  byId("wallets-text").hidden = false;
  findWallets({
    onFound(wallet) {
      setText(byId("wallets-text"), say("choose"));
      addToList(wallet, { word: "signInWith", onChoose: () => signIn(wallet) });
    },
    onNone: () => setText(byId("wallets-text"), say("noWallet")),
  });
}

/** A wallet shows the site that asks, and the server takes messages for its own alone. @param {string} origin */
function leadToOrigin(origin) {
  const place = byId("other-host");
  const link = place.querySelector("a");
  if (link !== null) {
    link.href = `${origin}/merchant`;
    link.textContent = link.href;
  }
  place.hidden = false;
}

/** @param {Wallet} wallet */
async function signIn(wallet) {
  const { provider } = wallet;
  tell(say("answerWallet"));
  try {
    const account = await accountOf(provider);
    if (account === undefined) return tell(say("noAccount"), "bad");
    const network = JSON.parse(byId("sign-in").dataset["network"] ?? "{}");
    if (!(await useNetwork(provider, network))) return tell(say("noRpcUrl"), "bad");
    const address = await checksummed(account);
    const given = await post("session/nonce", {});
    if (given.status !== 200) return tell(problemOf(given.status), "bad");
    const message = messageOf(address, given.record);
    tell(say("signing"));
    const signature = await provider.request({ method: "personal_sign", params: [hexOf(message), address] });
    tell(say("checking"));
    const opened = await post("session", { message, signature });
    if (opened.status !== 201) return tell(problemOf(opened.status), "bad");
    rememberWallet(wallet);
    location.replace(byId("sign-in").dataset["next"] ?? location.pathname);
  } catch (error) {
    tell(error instanceof NoAnswer ? say("noAnswer") : reasonOf(error), "bad");
  }
}

/** @param {Wallet["provider"]} provider @returns {Promise<string | undefined>} */
async function accountOf(provider) {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const [account] = Array.isArray(accounts) ? accounts : [];
  return typeof account === "string" ? account : undefined;
}

/** As the message has to write it (EIP-55): the server knows, which has Keccak-256. @param {string} account */
async function checksummed(account) {
  const { page } = await askForPage(`${root}merchant?address=${encodeURIComponent(account)}`).catch(() => {
    throw new NoAnswer();
  });
  const address = page.getElementById("sign-in")?.dataset["address"] ?? "";
  if (address === "") throw new NoAnswer();
  return address;
}

/** The text that is signed, by EIP-4361. @param {string} address @param {Record<string, string | number>} given */
function messageOf(address, given) {
  const { domain, statement, uri, chainId, nonce, issuedAt, expirationTime } = given;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    "",
    statement,
    "",
    `URI: ${uri}`,
    "Version: 1",
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join("\n");
}

/** @param {string} text */
function hexOf(text) {
  const digits = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `0x${digits.join("")}`;
}

/** The server gave no answer that can be used. */
class NoAnswer extends Error {}

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<{ status: number, record: Record<string, string | number> }>}
 */
async function post(path, body) {
  try {
    const response = await fetch(`${root}api/v1/svc-dev/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, record: await response.json() };
  } catch {
    throw new NoAnswer();
  }
}

/** @param {number} status */
function problemOf(status) {
  if (status === 429) return say("tooMany");
  return status >= 500 ? say("noAnswer") : say("signInRefused");
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
