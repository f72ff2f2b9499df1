import { ChainUnavailableError } from "../../lib/chain/rpc-client.ts";
import type { ChainReader } from "../chain/chain-reader.ts";

/** Far more than reading takes; a loop without an end has used it up in a fraction of a second. */
const callGas = 10_000_000n;
/** Calls of everybody together: a validator runs each of them. */
const underWayMax = 8;

export type CallOutcome =
  | { returned: string }
  /** With its data; undefined where the node does not say. */
  | { reverted: string | undefined }
  /** It did not end, for want of gas or by a broken instruction: in the node's words. */
  | { failed: string }
  /** Nothing came: too many calls are under way, or this one took too long or answered too much. */
  | { unanswered: "busy" | "slow" };

export type CallContract = (call: { to: string; data: string; block: number }) => Promise<CallOutcome>;

/**
 * Runs a function of a contract without changing anything, for people who only look: bounded in gas, by the reader's own
 * timeout, and in how many are under way.
 */
export function createCallContract({ reader }: { reader: Pick<ChainReader, "call"> }): CallContract {
  let underWay = 0;
  return async ({ to, data, block }) => {
    if (underWay >= underWayMax) return { unanswered: "busy" };
    underWay += 1;
    try {
      return await reader.call({ to, data, gas: callGas }, block);
    } catch (error) {
      if (error instanceof ChainUnavailableError) return { unanswered: "slow" };
      throw error;
    } finally {
      underWay -= 1;
    }
  };
}
