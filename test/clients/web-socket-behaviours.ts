import type { ClientName } from "./behaviours.ts";

/**
 * What each client library does over a WebSocket. Every row is asserted by `websocket.test.ts`, as it stands, and
 * `npm run docs` writes the table of `gateway/CLIENTS.md` from it.
 */
export type WebSocketBehaviour = {
  client: Extract<ClientName, "ethers" | "viem" | "web3.js">;
  /** What of it tells heads and logs: each once and in order. */
  heads: string;
  logs: string;
  /** When the gateway was restarted, at the same address. */
  afterRestart: "connects and subscribes again by itself, once" | "has to be made anew";
  /** How its user learns that the connection has ended. */
  tells: string;
};

export const webSocketBehaviours: readonly WebSocketBehaviour[] = [
  {
    client: "ethers",
    heads: 'provider.on("block", …)',
    logs: "provider.on({ address }, …)",
    afterRestart: "has to be made anew",
    tells: "close of provider.websocket, 1001",
  },
  {
    client: "viem",
    heads: "watchBlockNumber",
    logs: "watchContractEvent",
    afterRestart: "connects and subscribes again by itself, once",
    tells: "SocketClosedError in onError",
  },
  {
    client: "web3.js",
    heads: 'subscribe("newBlockHeaders")',
    logs: 'subscribe("logs", { address })',
    afterRestart: "has to be made anew",
    tells: "disconnect of its provider, 1001",
  },
];
