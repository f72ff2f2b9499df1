// @ts-check
import { byId, create, say, setText } from "./elements.js";
import { addNetwork, findWallets, reasonOf } from "./providers.js";
import { walletButton } from "./wallet-button.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/**
 * Shows a button for each wallet of this browser, which asks it to add the network.
 * @param {import("./page.js").Configuration} configuration
 */
export function offerWallets(configuration) {
  findWallets({
    onFound({ info, provider }) {
      setText(byId("wallets-text"), say("walletsFound"));
      const text = say("addTo", { name: info.name === "" ? say("anyWallet") : info.name });
      const item = create("li");
      item.append(walletButton({ info, text, onClick: () => add({ provider, configuration }) }));
      byId("wallets").append(item);
    },
    onNone: () => setText(byId("wallets-text"), say("walletsNone")),
  });
}

/** @param {{ provider: Wallet["provider"], configuration: object }} what */
async function add({ provider, configuration }) {
  tell(say("answerWallet"));
  try {
    await addNetwork(provider, configuration);
    tell(say("networkAdded"), "good");
    byId("next").hidden = false;
  } catch (error) {
    tell(reasonOf(error), "bad");
  }
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
