import type { Logger } from "pino";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";

/**
 * Starts the internal RPC: the unauthenticated, unfiltered way to one node, on loopback and for development alone. The
 * node's own methods work through it (`anvil_*`, `evm_*`, `hardhat_*`); pages of other sites do not reach it.
 */
export function startInternalRpc(
  { port, nodeUrl }: { port: number; nodeUrl: string },
  { logger }: { logger: Logger },
): Promise<RpcProxy> {
  return startRpcProxy({
    port,
    target: { name: "the dev chain", url: nodeUrl, headers: () => ({}) },
    logger,
  });
}
