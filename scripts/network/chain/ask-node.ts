import { ChainUnavailableError, createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { quantity } from "../../../lib/chain/rpc-values.ts";

export type RpcCall = { method: string; params?: readonly unknown[] };

const timeoutMsDefault = 5000;

/**
 * Makes several calls to a node in one request. The results stand in the order of the calls; a call answered with an
 * error gives undefined. The whole is undefined where the node does not answer like a node.
 */
export async function askNode(
  url: string,
  calls: readonly RpcCall[],
  { timeoutMs = timeoutMsDefault }: { timeoutMs?: number } = {},
): Promise<unknown[] | undefined> {
  const rpc = createRpcClient({ url, timeoutMs });
  try {
    const answers = await rpc.askAll(calls.map(({ method, params = [] }) => ({ method, params })));
    return answers.map((answer) => ("result" in answer ? answer.result : undefined));
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return undefined;
  } finally {
    await rpc.stop();
  }
}

/** A quantity of JSON-RPC, such as a height; undefined for anything else. */
export function readQuantity(value: unknown): number | undefined {
  return quantity.safeParse(value).data;
}
