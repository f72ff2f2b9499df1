/**
 * The numbers and names of the network. Wallets compare the hex form of the chain ID with `eth_chainId`, so it is
 * derived from the number and written down nowhere.
 */
export const network = {
  chainId: 8845,
  blockTimeSeconds: 2,
  chainName: "Tollgate Testnet",
  nativeCurrency: { name: "Testnet Token", symbol: "TEST", decimals: 18 },
} as const;

/** The parameter of `wallet_addEthereumChain` (EIP-3085). */
export type WalletConfiguration = {
  /** Hexadecimal, with 0x. */
  chainId: string;
  chainName: string;
  nativeCurrency: { name: string; symbol: string; decimals: number };
  rpcUrls: readonly string[];
  blockExplorerUrls: readonly string[];
};

/** What a browser wallet has to be told to reach the network at these addresses. */
export function walletConfiguration({
  rpcUrl,
  explorerUrl,
}: {
  rpcUrl: string;
  explorerUrl: string;
}): WalletConfiguration {
  const { chainId, chainName, nativeCurrency } = network;
  return {
    chainId: `0x${chainId.toString(16)}`,
    chainName,
    nativeCurrency,
    rpcUrls: [rpcUrl],
    blockExplorerUrls: [explorerUrl],
  };
}
