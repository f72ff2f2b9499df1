import { WebSocketProvider } from "ethers";

/** As in a browser, which can set no header: the key goes as a subprotocol, never in the URL. */
export function connectWebSocket({ url, key }: { url: string; key: string }): WebSocketProvider {
  const open = () => new WebSocket(url, ["tollgate.v1", `api-key.${key}`]);
  return new WebSocketProvider(open, 8845, { staticNetwork: true });
}
