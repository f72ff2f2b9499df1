import { defineChain, type HttpTransportConfig, http } from "viem";

export const tollgate = defineChain({
  id: 8845,
  name: "Tollgate Testnet",
  nativeCurrency: { name: "Testnet Token", symbol: "TEST", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

/** For `createPublicClient({ chain: tollgate, transport })` and `createWalletClient`. */
export function connect({ url, key, ...options }: HttpTransportConfig & { url: string; key: string }) {
  return http(url, { ...options, fetchOptions: { headers: { "X-API-Key": key } } });
}
