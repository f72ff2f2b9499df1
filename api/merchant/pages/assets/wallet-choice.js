// @ts-check
import { byId, create, say } from "./elements.js";
import { walletButton } from "./wallet-button.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

const storageKey = "tollgate_wallet";

/**
 * A button for a wallet in the list of wallets; the one that was used last stands first.
 * @param {Wallet} wallet
 * @param {{ word: string, onChoose: () => Promise<unknown> }} what `word` has a place for the wallet's name
 */
export function addToList({ info }, { word, onChoose }) {
  const isLast = info.rdns !== "" && info.rdns === lastWallet();
  const name = info.name === "" ? say("anyWallet") : info.name;
  const item = create("li");
  const text = say(word, { name: isLast ? say("lastUsed", { name }) : name });
  item.append(walletButton({ info, text, onClick: onChoose }));
  if (isLast) byId("wallets").prepend(item);
  else byId("wallets").append(item);
}

/** The wallet that was used last in this browser, by its name in reverse DNS (EIP-6963), or nothing. */
export function lastWallet() {
  try {
    return localStorage.getItem(storageKey) ?? "";
  } catch {
    // A browser that keeps nothing.
    return "";
  }
}

/** @param {Wallet} wallet */
export function rememberWallet({ info: { rdns } }) {
  try {
    localStorage.setItem(storageKey, rdns);
  } catch {
    // It is asked for again the next time.
  }
}
