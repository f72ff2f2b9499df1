import { ChainUnavailableError, createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { quantity } from "../../../lib/chain/rpc-values.ts";

export type RpcCall = { method: string; params?: readonly unknown[] };

const timeoutMsDefault = 5000;

/**
 * Asks a node several things in one request: the results in the order of the calls, undefined for one that was answered
 * with an error; or undefined as a whole where the node does not answer as one.
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
