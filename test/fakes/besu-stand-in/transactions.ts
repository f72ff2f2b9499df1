import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Transaction } from "ethers/transaction";
import { encodeRlp, toQuantity } from "ethers/utils";
import { z } from "zod";
import { treeRoot } from "../../../genesis/state-root.ts";

/** A signed transaction as the stand-in keeps it. */
export type Sent = { raw: string; hash: string; from: string; nonce: number; transaction: Transaction };

export type Pool = ReturnType<typeof openPool>;

/** So many have a path of one byte in the tree of a block's transactions, and a block of them fits into a line between peers. */
export const blockTransactionsMax = 40;
const rawCharsMax = 1000;
const savedSchema = z.array(z.string());

/** Reads a signed transaction; undefined where it is none. */
export function readTransaction(raw: string): Sent | undefined {
  try {
    if (raw.length > rawCharsMax) return undefined;
    const transaction = Transaction.from(raw);
    const { hash, from, nonce } = transaction;
    if (hash === null || from === null) return undefined;
    return { raw, hash, from: from.toLowerCase(), nonce, transaction };
  } catch {
    return undefined;
  }
}

/** The root that a header has of its block's transactions, at most `blockTransactionsMax`. */
export function transactionsRoot(raws: readonly string[]): string {
  return treeRoot(
    raws.map((raw, index) => ({
      path: encodeRlp(index === 0 ? "0x" : toQuantityByte(index)).slice(2),
      value: raw,
    })),
  );
}

function toQuantityByte(index: number): string {
  return `0x${index.toString(16).padStart(2, "0")}`;
}

/** What JSON-RPC shows of a transaction; without `block` it waits. */
export function showTransaction(
  { transaction, hash, from }: Sent,
  block?: { hash: string; number: string; index: number },
) {
  return {
    hash,
    from,
    to: transaction.to?.toLowerCase() ?? null,
    nonce: toQuantity(transaction.nonce),
    value: toQuantity(transaction.value),
    input: transaction.data,
    gas: toQuantity(transaction.gasLimit),
    gasPrice: toQuantity(transaction.gasPrice ?? transaction.maxFeePerGas ?? 0n),
    type: toQuantity(transaction.type ?? 0),
    blockHash: block?.hash ?? null,
    blockNumber: block?.number ?? null,
    transactionIndex: block === undefined ? null : toQuantity(block.index),
  };
}

/**
 * The transactions that wait. As in Besu they are gone when the process ends, unless tx-pool-enable-save-restore is set:
 * then an orderly end writes them into the data folder, and the next start reads them and sends them to its peers.
 */
export function openPool({ dataFolder, saves }: { dataFolder: string; saves: boolean }) {
  const file = join(dataFolder, "txpool.dump");
  const waiting = new Map<string, Sent>();
  const add = (raw: string): Sent | undefined => {
    const sent = readTransaction(raw);
    if (sent !== undefined) waiting.set(sent.hash, sent);
    return sent;
  };
  if (saves && existsSync(file)) {
    for (const raw of savedSchema.parse(JSON.parse(readFileSync(file, "utf8")))) add(raw);
    rmSync(file);
  }
  return {
    read: readTransaction,
    add,
    get: (hash: string) => waiting.get(hash),
    all: (): readonly Sent[] => [...waiting.values()],
    remove: (hashes: Iterable<string>) => {
      for (const hash of hashes) waiting.delete(hash);
    },
    /** What can be mined on top of these nonces, each sender's in order. */
    ready(nonceOf: (from: string) => number): Sent[] {
      const next = new Map<string, number>();
      const chosen: Sent[] = [];
      for (const sent of [...waiting.values()].sort((left, right) => left.nonce - right.nonce)) {
        const nonce = next.get(sent.from) ?? nonceOf(sent.from);
        if (sent.nonce !== nonce) continue;
        next.set(sent.from, nonce + 1);
        chosen.push(sent);
        if (chosen.length === blockTransactionsMax) break;
      }
      return chosen;
    },
    save(): void {
      if (saves) writeFileSync(file, JSON.stringify([...waiting.values()].map(({ raw }) => raw)));
    },
  };
}
