import { createHash } from "node:crypto";
import type { ChainBlock } from "./besu-blocks.ts";
import { type Answer, answered } from "./besu-errors.ts";
import type { BlockText } from "./block-text.ts";
import type { Handlers } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import { hex } from "./json.ts";

/**
 * `next`: after each true block a false one on top of it. `jump`: 5 000 false ones. `fork`: its blocks differ from three
 * below the chain's end on, and grow with the chain. `branch`: the same from the end on.
 */
export type LieKind = "next" | "jump" | "fork" | "branch";
export type Lie = { kind: LieKind; beganAt: number };

const jumpBlocks = 5_000;
const forkDepth = 3;

export type Lies = ReturnType<typeof createLies>;

/**
 * What a validator answers that lies of the chain's end. Its state is false in its false blocks only (`0xbad0`), so that a
 * test sees where one was believed; what it says of true blocks is true.
 */
export function createLies({ view, blockText }: { view: ChainView; blockText: BlockText }) {
  const firstFalse = ({ kind, beganAt }: Lie): number => {
    if (kind === "next") return view.height() + 1;
    return kind === "fork" ? Math.max(1, beganAt - forkDepth) : beganAt + 1;
  };

  function height({ kind, beganAt }: Lie): number {
    return kind === "jump" ? beganAt + jumpBlocks : view.height() + 1;
  }

  function blockAt(lie: Lie, number: number): ChainBlock | undefined {
    const first = firstFalse(lie);
    if (number < first) return view.block(number);
    const model = view.block(Math.min(number, view.height()));
    if (number > height(lie) || model === undefined) return undefined;
    const hash = falseHash(lie, number);
    const parentHash =
      number === first ? (view.block(number - 1)?.hash ?? model.hash) : falseHash(lie, number - 1);
    const json = { ...model.json, number: hex(number), hash, parentHash };
    return { ...model, number, hash, parentHash, json, transactions: [], receipts: [], logs: [] };
  }

  function numberOf(lie: Lie, param: unknown): number {
    return typeof param === "string" && param.startsWith("0x") ? Number(param) : height(lie);
  }

  return {
    tip: (lie: Lie): ChainBlock | undefined => blockAt(lie, height(lie)),
    /** Its answer where it lies; undefined where it tells the truth. */
    answer(lie: Lie, method: string, params: unknown[]): Answer | undefined {
      const place = Object.hasOwn(stateMethods, method) ? stateMethods[method] : undefined;
      if (place !== undefined) {
        // Its pool is not what it lies of: nobody could tell that before the others have its next block.
        if (params[place] === "pending") return undefined;
        return numberOf(lie, params[place]) >= firstFalse(lie) ? answered("0xbad0") : undefined;
      }
      if (method === "eth_blockNumber") return answered(hex(height(lie)));
      if (method !== "eth_getBlockByNumber" || params[0] === "earliest") return undefined;
      const block = blockAt(lie, numberOf(lie, params[0]));
      const form = params[1] === true ? "whole" : "hashes";
      return block === undefined ? answered(null) : { result: blockText(block, form) };
    },
  };
}

/** Where the block stands in their parameters. */
const stateMethods: Readonly<Record<string, number>> = {
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_call: 1,
} satisfies Partial<Record<keyof Handlers, number>>;

function falseHash({ kind, beganAt }: Lie, number: number): string {
  return `0x${createHash("sha256").update(`${kind} ${beganAt} ${number}`).digest("hex")}`;
}
