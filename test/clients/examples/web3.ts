import { HttpProvider, Web3 } from "web3";

export function connect({ url, key }: { url: string; key: string }): Web3 {
  return new Web3(new HttpProvider(url, { providerOptions: { headers: { "X-API-Key": key } } }));
}
