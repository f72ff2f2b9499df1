import { answered, besuErrors, refused } from "./besu-errors.ts";
import { isBlockHash, readStateBlock } from "./block-params.ts";
import type { Handler, Handlers } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import { hex } from "./json.ts";
import type { Mempool } from "./mempool.ts";
import type { SharedChain } from "./shared-chain.ts";
import type { StateReader } from "./state-reader.ts";

/** Where each method that reads state names its block; what follows it (tracers, overrides) travels along. */
const blockParamAt = {
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_createAccessList: 1,
  eth_feeHistory: 1,
  debug_traceCall: 1,
  debug_traceBlockByNumber: 0,
  trace_block: 0,
};

const ofAnAddress = new Set(["eth_getBalance", "eth_getCode", "eth_getTransactionCount", "eth_getStorageAt"]);

/** Questions about state, answered by anvil at the block that this validator means. */
export function createStateMethods({
  chain,
  view,
  pool,
  state,
}: {
  chain: SharedChain;
  view: ChainView;
  pool: Mempool;
  state: StateReader;
}): Handlers {
  const atBlock =
    (method: string, position: number): Handler =>
    (params) => {
      if (ofAnAddress.has(method) && typeof params[0] !== "string") return refused(besuErrors.invalidAddress);
      const block = readStateBlock(params[position], view);
      if ("number" in block) return state.read(method, withBlock(params, position, block.number));
      // At a block above its head Besu answers a call with null, and every other question with an error.
      const isCallAbove = method === "eth_call" && block.error === besuErrors.blockParamNotFound;
      return isCallAbove ? { result: "null" } : refused(block.error);
    };

  const ofTransaction =
    (method: string): Handler =>
    (params) => {
      const known = isBlockHash(params[0]) && view.transaction(params[0].toLowerCase()) !== undefined;
      return known ? state.read(method, params) : refused(besuErrors.transactionNotFound);
    };

  const handlers: Handlers = {};
  for (const [method, position] of Object.entries(blockParamAt)) handlers[method] = atBlock(method, position);

  const countAtBlock = atBlock("eth_getTransactionCount", 1);
  return {
    ...handlers,
    eth_getTransactionCount: (params) => {
      const [address, block] = params;
      if (block !== "pending" || typeof address !== "string") return countAtBlock(params);
      const sender = address.toLowerCase();
      // Only where the pool knows the sender does pending differ from latest.
      const mined = chain.nonceAt(sender, view.height());
      const next = pool.nextNonce(sender, mined);
      return next > mined ? answered(hex(next)) : countAtBlock(params);
    },
    debug_traceTransaction: ofTransaction("debug_traceTransaction"),
    trace_transaction: ofTransaction("trace_transaction"),
  };
}

function withBlock(params: unknown[], position: number, number: number): unknown[] {
  return [...params.slice(0, position), hex(number), ...params.slice(position + 1)];
}
