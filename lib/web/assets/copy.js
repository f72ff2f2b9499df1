// @ts-check
import { create, say, setText } from "./elements.js";

const copiedForMs = 2000;

/** Adds a button to each value of `within` that can be copied (elements/copyable.ts) and has none yet. */
export function addCopyButtons(within = document.body) {
  // Pages that are not served over TLS have no clipboard, but for loopback.
  if (navigator.clipboard === undefined) return;
  for (const value of within.querySelectorAll("[data-copy]")) {
    if (value.nextElementSibling?.matches("button.copy")) continue;
    const button = create("button", { className: "copy" });
    value.after(button);
    makeCopyButton(button, {
      text: value.getAttribute("data-copy") ?? "",
      name: value.getAttribute("data-copy-name") ?? "",
      label: say("copy"),
    });
  }
}

/**
 * Lets a button copy a text. It says whether it did, to those who see it and to those who hear it.
 * @param {HTMLButtonElement} button
 * @param {{ text: string, name?: string, label: string }} what
 */
export function makeCopyButton(button, { text, name = "", label }) {
  button.type = "button";
  button.textContent = label;
  button.setAttribute("aria-label", `${label}: ${name === "" ? text : name}`);
  button.addEventListener("click", async () => {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = say(isCopied ? "copied" : "notCopied");
    const told = `${button.textContent}: ${name === "" ? text : name}`;
    setText(announcer(), told);
    setTimeout(() => {
      button.textContent = label;
      // By then another one may have said something.
      if (announcer().textContent === told) setText(announcer(), "");
    }, copiedForMs);
  });
}

/** Read to who cannot see a button change. */
function announcer() {
  const found = document.getElementById("copied");
  if (found !== null) return found;
  const made = create("p", { className: "unseen" });
  made.id = "copied";
  made.setAttribute("role", "status");
  document.getElementById("main")?.append(made);
  return made;
}
