import type { Logger } from "pino";
import type { Node } from "./forwarder.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";

/**
 * Starts the internal RPC: the unauthenticated, unfiltered way to one node, on loopback and for development alone. The
 * node's own methods work through it (`anvil_*`, `evm_*`, `hardhat_*`); pages of other sites do not reach it.
 */
export function startInternalRpc(
  {
    port,
    nodeUrl,
    nodeWebSocketUrl,
    node,
  }: {
    port: number;
    nodeUrl: string;
    nodeWebSocketUrl?: string | undefined;
    /** Which of several is asked right now. */
    node?: (() => Node) | undefined;
  },
  { logger }: { logger: Logger },
): Promise<RpcProxy> {
  return startRpcProxy({
    port,
    target: {
      name: "the dev chain",
      url: nodeUrl,
      webSocketUrl: nodeWebSocketUrl,
      node,
      headers: () => ({}),
    },
    logger,
  });
}
