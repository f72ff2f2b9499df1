// @ts-check
import { byId, create, setText } from "./elements.js";

const copiedForMs = 2000;

/**
 * Lists the values that a wallet's form for a custom network asks for, each with a button that copies it.
 * @param {import("./page.js").Configuration} configuration
 */
export function showValues(configuration) {
  const { chainId, chainName, nativeCurrency, rpcUrls, blockExplorerUrls } = configuration;
  /** @type {[string, string][]} */
  const rows = [
    ["Network name", chainName],
    ["RPC URL", rpcUrls.join(" ")],
    ["Chain ID", String(Number(chainId))],
    ["Chain ID, hexadecimal", chainId],
    ["Currency symbol", nativeCurrency.symbol],
    ["Currency decimals", String(nativeCurrency.decimals)],
    ["Block explorer URL", blockExplorerUrls.join(" ")],
  ];
  byId("values").replaceChildren(...rows.map(([name, value]) => row(name, value)));
  const whole = byId("copy-json");
  whole.addEventListener("click", () =>
    copy({ button: whole, name: "All values", value: asJson(configuration) }),
  );
}

/** @param {import("./page.js").Configuration} configuration */
function asJson(configuration) {
  return JSON.stringify(configuration, null, 2);
}

/**
 * @param {string} name
 * @param {string} value
 */
function row(name, value) {
  const button = create("button", { className: "quiet", text: "Copy" });
  button.type = "button";
  button.setAttribute("aria-label", `Copy ${name}`);
  button.addEventListener("click", () => copy({ button, name, value }));
  const cell = create("dd", { className: "copy" });
  cell.append(button);
  const line = create("div");
  line.append(create("dt", { text: name }), create("dd", { text: value }), cell);
  return line;
}

/** @param {{ button: HTMLElement, name: string, value: string }} what */
async function copy({ button, name, value }) {
  const text = button.dataset["text"] ?? button.textContent ?? "";
  button.dataset["text"] = text;
  const isCopied = await navigator.clipboard.writeText(value).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? "Copied" : "Not copied";
  setText(byId("copied"), isCopied ? `${name}: copied` : `${name}: the browser did not let the page copy it`);
  setTimeout(() => {
    button.textContent = text;
    setText(byId("copied"), "");
  }, copiedForMs);
}
