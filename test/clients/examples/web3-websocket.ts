import { Web3, WebSocketProvider } from "web3";

export function connectWebSocket({ url, key }: { url: string; key: string }): Web3 {
  return new Web3(new WebSocketProvider(url, { headers: { "X-API-Key": key } }, { delay: 100 }));
}
