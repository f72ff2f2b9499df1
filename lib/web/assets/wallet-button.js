// @ts-check
import { create } from "./elements.js";

/** @typedef {import("./providers.js").Wallet} Wallet */

/**
 * A button with a wallet's icon and what it is asked for. It is busy until `onClick` has ended, and pressed meanwhile it
 * does nothing.
 * @param {{ info: Pick<Wallet["info"], "icon">, text: string, onClick: () => Promise<unknown> }} what
 */
export function walletButton({ info: { icon }, text, onClick }) {
  const button = create("button", { className: "wallet" });
  button.type = "button";
  // A wallet chooses its icon's address: one that is no image of its own would be asked for elsewhere.
  if (icon.startsWith("data:image/")) {
    const image = create("img");
    image.src = icon;
    image.alt = "";
    button.append(image);
  }
  button.append(create("span", { text }));
  button.addEventListener("click", () => void whileBusy(button, onClick));
  return button;
}

/**
 * @param {HTMLElement} button
 * @param {() => Promise<unknown>} work
 */
export async function whileBusy(button, work) {
  // Not `disabled`, which would take the focus away from whoever uses a keyboard.
  if (button.getAttribute("aria-disabled") === "true") return;
  setBusy(button, true);
  try {
    await work();
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
