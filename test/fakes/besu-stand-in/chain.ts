import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SigningKey } from "ethers/crypto";
import { toQuantity } from "ethers/utils";
import { z } from "zod";
import { type BlockHeader, blockHash, readBlockHeader, sealHash } from "../../../lib/ibft/block-header.ts";
import { encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { createVoteTally, voteOf, writeVote } from "../../../lib/ibft/vote-tally.ts";
import type { StandInGenesis } from "./read-genesis.ts";
import { readTransaction, type Sent, showTransaction, transactionsRoot } from "./transactions.ts";
import type { Proposals } from "./votes.ts";

/** A block as JSON-RPC gives it; `extraData` with the seals that this node saw. */
export type Block = z.output<typeof blockSchema>;
export const blockSchema = z.looseObject({
  number: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  miner: z.string(),
  timestamp: z.string(),
  extraData: z.string(),
  /** Its transactions as they were signed. */
  raws: z.array(z.string()).default([]),
});

const vanity = `0x${Buffer.from("besu 26.8.0").toString("hex").padStart(64, "0")}`;
/** What JSON-RPC adds to a header. */
const besideHeader = { totalDifficulty: "0x1", size: "0x3eb", uncles: [], transactions: [], withdrawals: [] };
const databaseLogBytes = 64 * 1024;
const zeroHash = `0x${"00".repeat(32)}`;

export type Chain = ReturnType<typeof openChain>;

/**
 * The blocks of one node: in memory, and a line each in its data folder. Transactions move value and count nonces; they run
 * nothing and cost nothing, and the state root stays that of the genesis block.
 */
export function openChain({
  genesis,
  dataFolder,
  say,
  proposals,
}: {
  genesis: StandInGenesis;
  proposals: Proposals;
  dataFolder: string;
  say: (text: string) => void;
}) {
  mkdirSync(dataFolder, { recursive: true });
  // As a database begins a log of its own each time that it is opened: on a full disk Besu does not start.
  const log = join(dataFolder, "LOG");
  writeFileSync(`${log}.new`, "-".repeat(databaseLogBytes));
  renameSync(`${log}.new`, log);
  const file = join(dataFolder, "stand-in-chain.jsonl");
  const first: Block = { ...genesis.block, ...besideHeader, raws: [] };
  const blocks: Block[] = [];
  const nonces = new Map<string, number>();
  const balances = new Map(genesis.balances);
  const mined = new Map<string, { sent: Sent; block: Block; index: number }>();
  const tally = createVoteTally(genesis);
  const pay = (address: string, wei: bigint) => balances.set(address, (balances.get(address) ?? 0n) + wei);

  function push(block: Block): void {
    blocks.push(block);
    tally.count({ number: Number(block.number), vote: voteOf(mustRead(block)) });
    for (const [index, raw] of block.raws.entries()) {
      const sent = readTransaction(raw);
      if (sent === undefined) throw new Error(`block ${block.number} has a transaction that cannot be read`);
      mined.set(sent.hash, { sent, block, index });
      nonces.set(sent.from, sent.nonce + 1);
      pay(sent.from, -sent.transaction.value);
      pay((sent.transaction.to ?? sent.from).toLowerCase(), sent.transaction.value);
    }
  }

  push(first);
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    // The last line may be half of one: the node was killed while it wrote.
    const block = parseBlock(line);
    if (block === undefined || Number(block.number) !== blocks.length) break;
    push(block);
  }
  const head = () => blocks.at(-1) ?? first;
  return {
    head,
    /** Who makes the next block; ascending. */
    validators: tally.validators,
    height: () => blocks.length - 1,
    block: (number: number) => blocks[number],
    byHash: (hash: string) => blocks.find((block) => block.hash === hash),
    nonce: (address: string) => nonces.get(address.toLowerCase()) ?? 0,
    balance: (address: string) => balances.get(address.toLowerCase()) ?? 0n,
    mined: (hash: string) => mined.get(hash),
    append(block: Block): void {
      push(block);
      try {
        appendFileSync(file, `${JSON.stringify(block)}\n`);
      } catch (error) {
        // Besu whose disk is full goes on until it ends for another reason.
        say(
          `Block ${Number(block.number)} cannot be written: ${error instanceof Error ? error.message : error}`,
        );
      }
    },
    /** A block on top of the head, without seals. */
    propose({
      miner,
      round,
      nowMs,
      raws,
    }: {
      miner: string;
      round: number;
      nowMs: number;
      raws: readonly string[];
    }): Block {
      const parent = head();
      const seconds = Math.max(Number(parent.timestamp) + genesis.blockMs / 1000, Math.floor(nowMs / 1000));
      const vote = proposals.next(miner, tally);
      const extraData = encodeExtraData({
        consensus: "ibft2",
        vanity,
        validators: tally.validators(),
        vote: vote === undefined ? undefined : writeVote(vote, "ibft2"),
        round,
        seals: [],
      });
      const block = {
        ...first,
        number: toQuantity(blocks.length),
        parentHash: parent.hash,
        miner,
        extraData,
        timestamp: toQuantity(seconds),
        baseFeePerGas: "0x0",
        transactionsRoot: transactionsRoot(raws),
        gasUsed: toQuantity(21_000 * raws.length),
        raws,
        hash: zeroHash,
      };
      return blockSchema.parse({ ...block, hash: blockHash(mustRead(block)) });
    },
  };
}

export function mustRead(block: unknown): BlockHeader {
  const read = readBlockHeader(block);
  if ("problem" in read) throw new Error(read.problem);
  return read.header;
}

/** Signs a proposed block as a commit seal. */
export function sealOf(block: Block, privateKey: string): string {
  const { r, s, yParity } = new SigningKey(privateKey).sign(sealHash(mustRead(block)));
  return `${r}${s.slice(2)}0${yParity}`;
}

/** The block with these seals and this round in its `extraData`; its hash stays. */
export function withSeals(block: Block, seals: readonly string[]): Block {
  const { extraData } = mustRead(block);
  return { ...block, extraData: encodeExtraData({ ...extraData, seals }) };
}

/** A block as JSON-RPC shows it, with its transactions in full or by their hashes. */
export function showBlock({ raws, ...block }: Block, full: boolean) {
  const transactions = raws.flatMap((raw, index) => {
    const sent = readTransaction(raw);
    if (sent === undefined) return [];
    return [full ? showTransaction(sent, { ...block, index }) : sent.hash];
  });
  return { ...block, transactions };
}

function parseBlock(line: string): Block | undefined {
  try {
    return blockSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
