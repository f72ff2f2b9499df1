// @ts-check
import { watchNetwork } from "./status.js";
import { showValues } from "./values.js";
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

const response = await fetch("/network.json");
/** @type {Configuration} */
const configuration = await response.json();
showValues(configuration);
offerWallets(configuration);
watchNetwork(configuration);
