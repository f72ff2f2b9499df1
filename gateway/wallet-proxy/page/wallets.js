// @ts-check
import { byId, create, say, setText } from "./elements.js";
import { addNetwork, findWallets, reasonOf } from "./providers.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/**
 * Shows a button for each wallet of this browser, which asks it to add the network.
 * @param {import("./page.js").Configuration} configuration
 */
export function offerWallets(configuration) {
  findWallets({
    onFound({ info, provider }) {
      setText(byId("wallets-text"), say("walletsFound"));
      const item = create("li");
      item.append(walletButton({ info, onClick: (button) => add({ button, provider, configuration }) }));
      byId("wallets").append(item);
    },
    onNone: () => setText(byId("wallets-text"), say("walletsNone")),
  });
}

/** @param {{ info: Wallet["info"], onClick: (button: HTMLButtonElement) => void }} what */
function walletButton({ info: { name, icon }, onClick }) {
  const button = create("button", { className: "wallet" });
  button.type = "button";
  if (icon.startsWith("data:image/")) {
    const image = create("img");
    image.src = icon;
    image.alt = "";
    button.append(image);
  }
  button.append(create("span", { text: say("addTo", { name: name === "" ? say("anyWallet") : name }) }));
  button.addEventListener("click", () => {
    // Not `disabled`, which would take the focus away from whoever uses a keyboard.
    if (button.getAttribute("aria-disabled") !== "true") onClick(button);
  });
  return button;
}

/** @param {{ button: HTMLButtonElement, provider: Wallet["provider"], configuration: object }} what */
async function add({ button, provider, configuration }) {
  setBusy(button, true);
  tell(say("answerWallet"));
  try {
    await addNetwork(provider, configuration);
    tell(say("networkAdded"), "good");
    byId("next").hidden = false;
  } catch (error) {
    tell(reasonOf(error), "bad");
  } finally {
    setBusy(button, false);
  }
}

/**
 * @param {HTMLElement} button
 * @param {boolean} isBusy
 */
function setBusy(button, isBusy) {
  button.setAttribute("aria-disabled", String(isBusy));
  button.setAttribute("aria-busy", String(isBusy));
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
