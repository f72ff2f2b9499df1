// @ts-check
import { byId, create, say, setText } from "./elements.js";
import { addNetwork, findWallets, reasonOf } from "./providers.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/**
 * Offers each wallet of this browser twice: to give its address, and to take the network.
 * @param {{ onAddress: (address: string) => void, onProblem: (text: string) => void }} tell
 */
export function offerWallets({ onAddress, onProblem }) {
  /** @type {{ button: HTMLButtonElement, named: string }[]} */
  const offers = [];

  /** @param {HTMLElement} place @param {{ text: string, named: string, onClick: () => Promise<void> }} what */
  function offer(place, { text, named, onClick }) {
    const button = create("button", { className: "quiet", text });
    button.type = "button";
    button.addEventListener("click", () => void onClick());
    place.append(button);
    offers.push({ button, named });
    // Where there are several, each says whose it is.
    if (offers.length > 2) for (const each of offers) setText(each.button, each.named);
  }

  findWallets({
    onFound({ info: { name }, provider }) {
      offer(byId("use-wallet"), {
        text: say("useWallet"),
        named: say("useNamed", { name }),
        onClick: () => takeAddress(provider, { onAddress, onProblem }),
      });
      offer(byId("add-network"), {
        text: say("addNetwork"),
        named: say("addNamed", { name }),
        onClick: () => addTo(provider),
      });
    },
  });
}

/**
 * @param {Wallet["provider"]} wallet
 * @param {{ onAddress: (address: string) => void, onProblem: (text: string) => void }} tell
 */
async function takeAddress(wallet, { onAddress, onProblem }) {
  try {
    const accounts = await wallet.request({ method: "eth_requestAccounts" });
    const [account] = Array.isArray(accounts) ? accounts : [];
    if (typeof account === "string") onAddress(account);
    else onProblem(say("noAccount"));
  } catch (error) {
    onProblem(reasonOf(error));
  }
}

/** @param {Wallet["provider"]} wallet */
async function addTo(wallet) {
  const outcome = byId("network-outcome");
  setText(outcome, say("answerWallet"));
  try {
    await addNetwork(wallet, JSON.parse(document.body.dataset["network"] ?? "{}"));
    setText(outcome, say("networkAdded"));
  } catch (error) {
    setText(outcome, reasonOf(error));
  }
}
