import { type WebSocketTransport, type WebSocketTransportConfig, webSocket } from "viem";

/**
 * viem makes its sockets with `new WebSocket(url)` and has no place for a header or a subprotocol. So the class that it
 * finds when it connects for the first time offers the key to this one address; the wallet proxy is the other way.
 */
export function webSocketTransport({
  url,
  key,
  ...options
}: WebSocketTransportConfig & { url: string; key: string }): WebSocketTransport {
  const Original = globalThis.WebSocket;
  globalThis.WebSocket = class extends Original {
    constructor(...[address, options]: ConstructorParameters<typeof Original>) {
      super(address, String(address) === url ? ["tollgate.v1", `api-key.${key}`] : options);
    }
  };
  return webSocket(url, options);
}
