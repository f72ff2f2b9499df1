// @ts-check
import { byId, create, say } from "./elements.js";
import { findWallets, reasonOf, useNetwork } from "./providers.js";
import { whileBusy } from "./wallet-button.js";
import { addToList, lastWallet, rememberWallet } from "./wallet-choice.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/**
 * What is to be paid, as the page's data say it, each as JSON or text: `transaction` of `{to, value, data}`, `network` as EIP-3085 has
 * it, `amount` in words, `faucet` as an address or nothing, and `wallet`, the only account that may pay, or nothing where any may.
 * @typedef {Readonly<Record<string, string | undefined>>} PaymentData
 */

const weiDigits = 18n;

/**
 * Has one of this browser's wallets send a payment, by the page's #pay, #wallets and #outcome. Of several wallets the one that was
 * used last pays, else whoever pays chooses.
 * @param {{
 *   data: () => PaymentData,
 *   isDue: () => boolean,
 *   tell: (text: string, kind?: "good" | "bad" | "") => void,
 *   onSent: (hash: string) => Promise<unknown>,
 *   isStillDue?: () => Promise<boolean>,
 * }} page `isStillDue` looks again just before the wallet is asked, and says by itself what has changed
 */
export function createWalletPayment({ data, isDue, tell, onSent, isStillDue = async () => true }) {
  /** @type {Wallet[]} */
  const wallets = [];

  function offer() {
    const button = document.getElementById("pay");
    if (button !== null) button.hidden = wallets.length === 0;
    if (wallets.length === 0 && isDue()) tell(say("noWallet"), "");
    else if (byId("outcome").textContent === say("noWallet")) tell("");
  }

  async function choose() {
    const last = wallets.find(({ info }) => info.rdns !== "" && info.rdns === lastWallet());
    const [only, ...others] = wallets;
    const wallet = last ?? (others.length === 0 ? only : undefined);
    if (wallet !== undefined) return pay(wallet);
    list();
  }

  function list() {
    if (byId("wallets").childElementCount > 0) return;
    tell(say("chooseToPay"));
    for (const wallet of wallets) addToList(wallet, { word: "payWith", onChoose: () => pay(wallet) });
  }

  /** @param {Wallet} wallet */
  async function pay(wallet) {
    const { provider } = wallet;
    tell(say("answerWallet"));
    try {
      const accounts = await provider.request({ method: "eth_requestAccounts" });
      const from = accountOf(accounts, data()["wallet"]);
      if (from === undefined) {
        if (wallets.length > 1) list();
        return tell(say("otherAccount", { address: data()["wallet"] ?? "" }), "bad");
      }
      if (!(await useNetwork(provider, JSON.parse(data()["network"] ?? "{}"))))
        return tell(say("noRpcUrl"), "bad");
      if (!(await isStillDue())) return;
      const { to, value, data: input } = JSON.parse(data()["transaction"] ?? "{}");
      const balance = await balanceOf(provider, from);
      if (balance !== undefined && balance < BigInt(value)) return tellNotEnough(balance);
      const call = { from, to, value: `0x${BigInt(value).toString(16)}`, data: input };
      const hash = String(await provider.request({ method: "eth_sendTransaction", params: [call] }));
      rememberWallet(wallet);
      byId("wallets").replaceChildren();
      const button = document.getElementById("pay");
      if (button !== null) button.hidden = true;
      tell(say("sent"));
      await onSent(hash);
    } catch (error) {
      tell(reasonOf(error), "bad");
    }
  }

  /** @param {bigint} balance */
  function tellNotEnough(balance) {
    const { amount = "", faucet = "", network = "{}" } = data();
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

  return {
    /** Looks for wallets, and lets #pay ask one of them; `within` is an element that stays. @param {HTMLElement} within */
    start(within) {
      findWallets({
        onFound(wallet) {
          wallets.push(wallet);
          offer();
        },
        onNone: offer,
      });
      within.addEventListener("click", (event) => {
        const { target } = event;
        if (target instanceof HTMLElement && target.id === "pay") void whileBusy(target, () => choose());
      });
    },
    /** Shows the button where there is a wallet, after the page's parts were put in anew. */
    offer,
  };
}

/** The account that pays: the one that has to, or the wallet's first. @param {unknown} accounts @param {string | undefined} wanted */
function accountOf(accounts, wanted = "") {
  const given = Array.isArray(accounts) ? accounts.map(String) : [];
  if (wanted === "") return given[0];
  return given.some((each) => each.toLowerCase() === wanted.toLowerCase()) ? wanted : undefined;
}

/** Unknown where the wallet does not say: it tells by itself what it cannot pay. @param {Wallet["provider"]} provider @param {string} address */
async function balanceOf(provider, address) {
  try {
    return BigInt(String(await provider.request({ method: "eth_getBalance", params: [address, "latest"] })));
  } catch {
    return undefined;
  }
}
