// @ts-check
import { say } from "./elements.js";

/**
 * EIP-1193.
 * @typedef {{ request(call: { method: string, params?: unknown[] }): Promise<unknown> }} Provider
 */

/**
 * What a wallet announces of itself (EIP-6963); one that only sets window.ethereum has no name. `uuid` is another one each
 * time, `rdns` stays.
 * @typedef {{ info: { uuid: string, name: string, icon: string, rdns: string }, provider: Provider }} Wallet
 */

/** Wallets answer at once; some are put into the page only after it has loaded. */
const announcedWithinMs = 500;

/**
 * Tells of each wallet of this browser once.
 * @param {{ onFound: (wallet: Wallet) => void, onNone?: () => void }} tell
 */
export function findWallets({ onFound, onNone = () => {} }) {
  /** @type {Set<string>} */
  const known = new Set();

  /** @param {Wallet} wallet */
  function offer(wallet) {
    if (known.has(wallet.info.uuid)) return;
    known.add(wallet.info.uuid);
    onFound(wallet);
  }

  window.addEventListener("eip6963:announceProvider", (event) => {
    if (event instanceof CustomEvent) offer(event.detail);
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    if (known.size > 0) return;
    const provider = /** @type {{ ethereum?: Provider }} */ (/** @type {unknown} */ (window)).ethereum;
    if (provider === undefined) onNone();
    else offer({ info: { uuid: "", name: "", icon: "", rdns: "" }, provider });
  }, announcedWithinMs);
}

/**
 * Asks a wallet to add the network (EIP-3085).
 * @param {Provider} provider
 * @param {object} configuration
 */
export async function addNetwork(provider, configuration) {
  await provider.request({ method: "wallet_addEthereumChain", params: [configuration] });
}

/** What a wallet answers that does not know a chain (EIP-3326). */
const unknownChain = 4902;

/**
 * Has a wallet use the network; one that does not know it is asked to add it first.
 * @param {Provider} provider
 * @param {{ chainId: string, rpcUrls: readonly string[] }} configuration
 * @returns {Promise<boolean>} false where the wallet does not know the network, and there is no address to tell it
 */
export async function useNetwork(provider, configuration) {
  const { chainId, rpcUrls } = configuration;
  const isThere = async () => Number(await provider.request({ method: "eth_chainId" })) === Number(chainId);
  if (await isThere()) return true;
  const change = () => provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
  try {
    await change();
  } catch (error) {
    if (!isUnknownChain(error)) throw error;
    if (rpcUrls.length === 0) return false;
    await addNetwork(provider, configuration);
    // Most wallets change to what was added by themselves, some do not.
    if (!(await isThere())) await change();
  }
  if (!(await isThere())) throw new WrongNetwork();
  return true;
}

/** The wallet says that it did, and is elsewhere. */
class WrongNetwork extends Error {}

/** Wallets of phones put the wallet's own answer inside another. @param {unknown} error */
function isUnknownChain(error) {
  const { code, data } = /** @type {{ code?: number, data?: { originalError?: { code?: number } } }} */ (
    error ?? {}
  );
  return code === unknownChain || data?.originalError?.code === unknownChain;
}

/**
 * Why a wallet did not do what it was asked. The numbers are those of EIP-1193 and EIP-1474.
 * @param {unknown} error
 */
export function reasonOf(error) {
  if (error instanceof WrongNetwork) return say("wrongNetwork");
  const { code, message } = /** @type {{ code?: number, message?: string }} */ (error ?? {});
  if (code === 4001) return say("walletDeclined");
  if (code === -32002) return say("walletWaits");
  if (code === 4200 || code === -32601) return say("walletCannot");
  return say("walletFailed", { message: message ?? say("noReason") });
}
