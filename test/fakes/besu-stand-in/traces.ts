import { toQuantity } from "ethers/utils";
import { type Sent, showTransaction } from "./transactions.ts";

/** What a transaction of value costs before anything runs. */
const intrinsicGas = 21_000n;

/** The one call of a transaction that moves value and runs nothing, as a recording of Besu's `trace_transaction` has its fields. */
export function traceOf(sent: Sent, block: { hash: string; number: string; index: number }) {
  const { from, to, value, input } = showTransaction(sent);
  const gas = toQuantity(sent.transaction.gasLimit - intrinsicGas);
  return {
    action: { callType: "call", from, gas, input, to, value },
    blockHash: block.hash,
    blockNumber: Number(block.number),
    result: { gasUsed: "0x0", output: "0x" },
    ...{ subtraces: 0, traceAddress: [] },
    ...{ transactionHash: sent.hash, transactionPosition: block.index, type: "call" },
  };
}

/** What `debug_traceTransaction` says of the same. */
export const noInstructions = { gas: Number(intrinsicGas), failed: false, returnValue: "", structLogs: [] };
