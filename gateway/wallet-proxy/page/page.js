// @ts-check
import { addCopyButtons, makeCopyButton } from "./copy.js";
import { byId, say } from "./elements.js";
import { watchNetwork } from "./status.js";
import { offerWallets } from "./wallets.js";

/**
 * As the published interface has it, and the parameter of wallet_addEthereumChain (EIP-3085).
 * @typedef {{
 *   chainId: string,
 *   chainName: string,
 *   nativeCurrency: { name: string, symbol: string, decimals: number },
 *   rpcUrls: string[],
 *   blockExplorerUrls: string[],
 * }} Configuration
 */

/** @type {Configuration} */
const configuration = JSON.parse(document.body.dataset["network"] ?? "{}");

byId("live").hidden = false;
addCopyButtons();
const whole = byId("copy-json");
if (whole instanceof HTMLButtonElement && navigator.clipboard !== undefined) {
  makeCopyButton(whole, {
    text: JSON.stringify(configuration, null, 2),
    name: whole.dataset["name"] ?? "",
    label: say("copyAll"),
  });
  whole.hidden = false;
}
offerWallets(configuration);
void watchNetwork(configuration);
