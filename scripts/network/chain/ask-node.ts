import { z } from "zod";

export type RpcCall = { method: string; params?: readonly unknown[] };

const answerSchema = z.array(z.object({ id: z.int(), result: z.unknown().optional() }));
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
  if (calls.length === 0) return [];
  const body = calls.map(({ method, params = [] }, id) => ({ jsonrpc: "2.0", id, method, params }));
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const results = new Map(
      answerSchema.parse(await response.json()).map(({ id, result }) => [id, result] as const),
    );
    return calls.map((_call, id) => results.get(id));
  } catch {
    return undefined;
  }
}

/** A quantity of JSON-RPC, such as a height; undefined where it is none. */
export function readQuantity(value: unknown): number | undefined {
  return typeof value === "string" && /^0x[0-9a-f]{1,12}$/.test(value) ? Number(value) : undefined;
}
