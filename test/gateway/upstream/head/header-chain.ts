import { createHash } from "node:crypto";
import type { Header } from "../../../../gateway/upstream/head/read-header.ts";

export type HeaderChain = {
  block(number: number): Header;
  genesisHash: string;
  fork(name: string, at: number): HeaderChain;
};

/**
 * A chain whose block `number` is known before anyone has it. `name` decides every hash; a `fork` shares its blocks up to
 * and with `at` and differs above.
 */
export function createHeaderChain(name: string, parent?: { chain: HeaderChain; at: number }): HeaderChain {
  function hash(number: number): string {
    if (number < 0) return `0x${"0".repeat(64)}`;
    return parent !== undefined && number <= parent.at
      ? parent.chain.block(number).hash
      : hashOf(name, number);
  }

  function block(number: number): Header {
    const numberHex = `0x${number.toString(16)}`;
    // Like a node's answer: more members than the head needs, in an order of its own.
    const own = { number: numberHex, hash: hash(number), miner: "0x0", parentHash: hash(number - 1) };
    const json = { ...own, extraData: "0x01", transactions: [] };
    return { number: BigInt(number), hash: own.hash, parentHash: own.parentHash, block: json };
  }
  const chain: HeaderChain = {
    block,
    genesisHash: block(0).hash,
    fork: (forkName, at) => createHeaderChain(forkName, { chain, at }),
  };
  return chain;
}

function hashOf(name: string, number: number): string {
  return `0x${createHash("sha256").update(`${name} ${number}`).digest("hex")}`;
}
