import { type WalletConfiguration, walletConfiguration } from "../../../lib/network.ts";
import { payerRpcUrlOf } from "../payer-rpc/payer-rpc-config.ts";

/**
 * What a customer's wallet is told of the network: the RPC for payers where there is one, else the wallet proxy, which only machines
 * of partners have. With neither `rpcUrls` is empty: the network has to be in the wallet already.
 */
export function payerNetworkOf(
  config: Parameters<typeof payerRpcUrlOf>[0] & { walletProxyUrl: string },
): WalletConfiguration {
  const rpcUrl = payerRpcUrlOf(config) ?? config.walletProxyUrl;
  const configuration = walletConfiguration({ rpcUrl, explorerUrl: config.publicUrl });
  return { ...configuration, rpcUrls: rpcUrl === "" ? [] : configuration.rpcUrls };
}
