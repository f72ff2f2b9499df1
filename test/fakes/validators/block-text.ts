import { type ChainBlock, extraDataOf } from "./besu-blocks.ts";

export type BlockText = (block: ChainBlock, transactions: "hashes" | "whole") => string;

/** A block as JSON text, with the `extraData` that this validator keeps. Made once a block and form. */
export function createBlockText({ validatorIndex }: { validatorIndex: number }): BlockText {
  const texts = { hashes: new WeakMap<ChainBlock, string>(), whole: new WeakMap<ChainBlock, string>() };
  return (block, form) => {
    const known = texts[form].get(block);
    if (known !== undefined) return known;
    const transactions = block.transactions.map(({ hash, json }) => (form === "whole" ? json : hash));
    const text = JSON.stringify({
      ...block.json,
      extraData: extraDataOf(block, validatorIndex),
      transactions,
    });
    texts[form].set(block, text);
    return text;
  };
}
