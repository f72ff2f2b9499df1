import { keccak256 } from "ethers/crypto";
import { dataLength, encodeRlp, type RlpStructuredData, toBeHex } from "ethers/utils";

export type StateAccount = { address: string; balanceWei: bigint; nonce: bigint; code: string };

/** keccak256(RLP("")): the root of a tree without entries. */
export const emptyRoot = keccak256(encodeRlp("0x"));
const digits = [..."0123456789abcdef"];

/**
 * The state root of a block in which exactly these accounts exist, each once, without storage: the Merkle-Patricia tree
 * of the yellow paper's appendix D, keyed by the hash of the address.
 */
export function stateRoot(accounts: readonly StateAccount[]): string {
  if (accounts.length === 0) return emptyRoot;
  const entries = accounts.map(({ address, balanceWei, nonce, code }) => ({
    path: keccak256(address).slice(2),
    value: encodeRlp([scalar(nonce), scalar(balanceWei), emptyRoot, keccak256(code)]),
  }));
  return treeRoot(entries);
}

type Entry = { path: string; value: string };

/** The root of a tree: paths are digits without 0x, all of one length; values are RLP. */
export function treeRoot(entries: readonly Entry[]): string {
  return entries.length === 0 ? emptyRoot : keccak256(encodeRlp(nodeOf(entries, 0)));
}

function nodeOf(entries: readonly Entry[], depth: number): RlpStructuredData {
  const [first] = entries;
  if (first === undefined) return "0x";
  if (entries.length === 1) return [compactPath(first.path.slice(depth), true), first.value];
  let end = depth;
  while (end < first.path.length && entries.every(({ path }) => path[end] === first.path[end])) end += 1;
  if (end > depth) {
    return [compactPath(first.path.slice(depth, end), false), reference(nodeOf(entries, end))];
  }
  const branches = digits.map((digit) =>
    reference(
      nodeOf(
        entries.filter(({ path }) => path[depth] === digit),
        depth + 1,
      ),
    ),
  );
  return [...branches, "0x"];
}

/** A node shorter than 32 bytes stands in its parent itself, else its hash does. */
function reference(node: RlpStructuredData): RlpStructuredData {
  const encoded = encodeRlp(node);
  return dataLength(encoded) < 32 ? node : keccak256(encoded);
}

/** Appendix C: the first half byte says whether the digits are odd in number and whether a value follows. */
function compactPath(path: string, isLeaf: boolean): string {
  const flag = isLeaf ? 2 : 0;
  return path.length % 2 === 1 ? `0x${flag + 1}${path}` : `0x${flag}0${path}`;
}

function scalar(value: bigint): string {
  return value === 0n ? "0x" : toBeHex(value);
}
