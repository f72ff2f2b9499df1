// @ts-check
import { byId, create, setText } from "./elements.js";

/**
 * EIP-1193.
 * @typedef {{ request(call: { method: string, params: unknown[] }): Promise<unknown> }} Provider
 */

/**
 * What a wallet announces of itself (EIP-6963).
 * @typedef {{ info: { uuid: string, name: string, icon: string }, provider: Provider }} Wallet
 */

/** Wallets answer at once; some are put into the page only after it has loaded. */
const announcedWithinMs = 500;

/**
 * Shows a button for each wallet of this browser, which asks it to add the network (EIP-3085).
 * @param {import("./page.js").Configuration} configuration
 */
export function offerWallets(configuration) {
  /** @type {Set<string>} */
  const known = new Set();

  /** @param {Wallet} wallet */
  function offer({ info, provider }) {
    if (known.has(info.uuid)) return;
    known.add(info.uuid);
    setText(byId("wallets-text"), "Your wallet will show what it is asked to add, and ask you to agree.");
    const item = create("li");
    item.append(walletButton({ info, onClick: (button) => add({ button, provider, configuration }) }));
    byId("wallets").append(item);
  }

  window.addEventListener("eip6963:announceProvider", (event) => {
    if (event instanceof CustomEvent) offer(event.detail);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));

  setTimeout(() => {
    if (known.size > 0) return;
    const provider = legacyProvider();
    if (provider !== undefined)
      offer({ info: { uuid: "", name: "your browser wallet", icon: "" }, provider });
    else {
      setText(
        byId("wallets-text"),
        "No wallet was found in this browser. Open this page in the browser that has your wallet, or install one and " +
          "load the page again. Wallets outside the browser take the values below.",
      );
    }
  }, announcedWithinMs);
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
  button.append(create("span", { text: `Add to ${name}` }));
  button.addEventListener("click", () => {
    // Not `disabled`, which would take the focus away from whoever uses a keyboard.
    if (button.getAttribute("aria-disabled") !== "true") onClick(button);
  });
  return button;
}

/** @param {{ button: HTMLButtonElement, provider: Provider, configuration: object }} what */
async function add({ button, provider, configuration }) {
  button.setAttribute("aria-disabled", "true");
  say("Answer in your wallet.");
  try {
    await provider.request({ method: "wallet_addEthereumChain", params: [configuration] });
    say("The network is in your wallet.", "good");
  } catch (error) {
    say(reasonOf(error), "bad");
  } finally {
    button.setAttribute("aria-disabled", "false");
  }
}

/**
 * @param {string} text
 * @param {"good" | "bad" | ""} [kind]
 */
function say(text, kind = "") {
  const outcome = byId("outcome");
  outcome.dataset["kind"] = kind;
  setText(outcome, text);
}

/**
 * The numbers are those of EIP-1193 and EIP-1474.
 * @param {unknown} error
 */
function reasonOf(error) {
  const { code, message } = /** @type {{ code?: number, message?: string }} */ (error ?? {});
  if (code === 4001) return "You declined in the wallet, so nothing was added.";
  if (code === -32002) return "The wallet already waits for your answer: open it.";
  if (code === 4200 || code === -32601) {
    return "This wallet cannot be asked to add a network: copy the values below into its settings.";
  }
  return `The wallet did not add it: ${message ?? "it gave no reason"}`;
}

/** @returns {Provider | undefined} the one of a wallet that does not announce itself */
function legacyProvider() {
  return /** @type {{ ethereum?: Provider }} */ (/** @type {unknown} */ (window)).ethereum;
}
