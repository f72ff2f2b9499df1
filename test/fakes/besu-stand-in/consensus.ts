import { computeAddress } from "ethers/transaction";
import { z } from "zod";
import { signersOf } from "../../../lib/ibft/block-header.ts";
import { quorumOf } from "../../../lib/ibft/quorum.ts";
import { type Block, blockSchema, type Chain, mustRead, sealOf, withSeals } from "./chain.ts";
import type { StandInGenesis } from "./read-genesis.ts";
import { type Pool, readTransaction } from "./transactions.ts";

/** What validators tell each other. */
export type Message = z.output<typeof messageSchema>;
const messageSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("round"), number: z.int(), round: z.int() }),
  z.object({ type: z.literal("proposal"), block: blockSchema }),
  z.object({ type: z.literal("seal"), number: z.int(), hash: z.string(), seal: z.string() }),
  z.object({ type: z.literal("height"), height: z.int() }),
  z.object({ type: z.literal("get"), from: z.int() }),
  z.object({ type: z.literal("blocks"), blocks: z.array(blockSchema) }),
  z.object({ type: z.literal("transaction"), raw: z.string() }),
]);

export type ConsensusOptions = {
  genesis: StandInGenesis;
  chain: Chain;
  privateKey: string;
  /** A fault: it takes no part though it is a validator. */
  isMute: boolean;
  pool: Pool;
  broadcast: (message: Message) => void;
  send: (address: string, message: Message) => void;
  onBlock: (block: Block) => void;
};

const tickMs = 20;
const announceMs = 200;
/** So many without transactions fit into a line of 64 KiB. */
const blocksAtOnceMax = 20;
const blocksCharsMax = 60_000;

/**
 * IBFT 2.0 without its preparation phase, which only matters where somebody lies: the proposer's turn goes round, each
 * validator signs what is proposed in its own round, four of five signatures make the block. A round takes twice as long
 * as the one before, and one that has a higher number waits for the others: as in Besu, nobody is pulled ahead.
 */
export function startConsensus(options: ConsensusOptions) {
  const { genesis, chain, privateKey, isMute, pool, broadcast, onBlock } = options;
  const own = computeAddress(privateKey).toLowerCase();
  const { blockMs, requestTimeoutMs } = genesis;
  const isValidator = (address: string) => chain.validators().includes(address);
  const takesPart = () => !isMute && isValidator(own);
  const quorum = () => quorumOf(chain.validators().length);
  let round = 0;
  let roundEndsAt = 0;
  let proposal: Block | undefined;
  /** By the hash of what they sign: some are here before their proposal. */
  let seals = new Map<string, Set<string>>();
  /** The round that each validator says it is in, at the height that is being made. */
  let rounds = new Map<string, number>();
  let announcedAt = 0;

  function begin(): void {
    round = 0;
    rounds = new Map();
    enterRound();
  }

  function enterRound(): void {
    proposal = undefined;
    seals = new Map();
    roundEndsAt = Date.now() + requestTimeoutMs * 2 ** round;
    if (!takesPart()) return;
    rounds.set(own, round);
    broadcast({ type: "round", number: chain.height() + 1, round });
  }

  function tick(): void {
    const now = Date.now();
    if (now - announcedAt > announceMs) {
      announcedAt = now;
      broadcast({ type: "height", height: chain.height() });
      // For those who were not there yet when the round began.
      if (takesPart()) broadcast({ type: "round", number: chain.height() + 1, round });
    }
    if (!takesPart()) return;
    if (now > roundEndsAt) {
      round += 1;
      enterRound();
      return;
    }
    const isTime = now >= Number(chain.head().timestamp) * 1000 + blockMs;
    const proposer = proposerOf(chain.validators(), { last: chain.head().miner, round });
    const together = [...rounds.values()].filter((other) => other === round).length;
    if (proposal === undefined && isTime && proposer === own && together >= quorum()) {
      const raws = pool.ready(chain.nonce).map(({ raw }) => raw);
      const block = chain.propose({ miner: own, round, nowMs: now, raws });
      broadcast({ type: "proposal", block });
      accept(block);
    }
  }

  function accept(block: Block): void {
    proposal = block;
    const seal = sealOf(block, privateKey);
    broadcast({ type: "seal", number: Number(block.number), hash: block.hash, seal });
    addSeal(block.hash, seal);
  }

  function addSeal(hash: string, seal: string): void {
    const known = seals.get(hash) ?? new Set();
    seals.set(hash, known.add(seal));
    if (proposal?.hash === hash && known.size >= quorum()) take(withSeals(proposal, [...known]));
  }

  function take(block: Block): boolean {
    const isNext = Number(block.number) === chain.height() + 1 && block.parentHash === chain.head().hash;
    if (!isNext || !isFinal(block, chain.validators())) return false;
    chain.append(block);
    pool.remove(block.raws.map((raw) => readTransaction(raw)?.hash ?? ""));
    onBlock(block);
    begin();
    return true;
  }

  function receive(from: string, json: unknown): void {
    const parsed = messageSchema.safeParse(json);
    if (!parsed.success) return;
    const message = parsed.data;
    const next = chain.height() + 1;
    if (message.type === "round") {
      if (message.number === next && isValidator(from)) rounds.set(from, message.round);
    } else if (message.type === "proposal") {
      // Who is no validator takes blocks when they are made.
      if (!takesPart()) return;
      const { extraData } = mustRead(message.block);
      const isNow = Number(message.block.number) === next && extraData.round === round;
      if (isNow && proposal === undefined) accept(message.block);
    } else if (message.type === "seal") {
      if (message.number === next && isValidator(from)) addSeal(message.hash, message.seal);
    } else if (message.type === "blocks") {
      for (const block of message.blocks) if (!take(block)) break;
    } else serve(options, from, message);
  }

  begin();
  const timer = setInterval(tick, tickMs);
  return { receive, stop: () => clearInterval(timer) };
}

function proposerOf(
  validators: readonly string[],
  { last, round }: { last: string; round: number },
): string | undefined {
  // Where the last proposer is no validator any more: those behind its address are next (ProposerSelector in Besu).
  const behind = validators.findIndex((address) => address > last);
  const next = behind === -1 ? 0 : behind;
  return validators[(next + round) % validators.length];
}

/** A block that names the validators as votes have them, with enough seals of different ones, is final. */
function isFinal(block: Block, validators: readonly string[]): boolean {
  const header = mustRead(block);
  if (header.extraData.validators.join() !== validators.join()) return false;
  const sealers = [...signersOf(header)].filter((sealer) => validators.includes(sealer));
  return sealers.length >= quorumOf(validators.length);
}

/** What has nothing to do with the round: a peer that is behind or ahead, and transactions. */
function serve(
  { chain, pool, send }: Pick<ConsensusOptions, "chain" | "pool" | "send">,
  from: string,
  message: Message,
): void {
  if (message.type === "transaction") pool.add(message.raw);
  else if (message.type === "get") {
    send(from, { type: "blocks", blocks: blocksFrom(chain, message.from) });
  } else if (message.type === "height" && message.height > chain.height()) {
    send(from, { type: "get", from: chain.height() + 1 });
  }
}

/** As many blocks from `first` on as fit into one message. */
function blocksFrom(chain: Chain, first: number): Block[] {
  const blocks: Block[] = [];
  for (let chars = 0; blocks.length < blocksAtOnceMax; ) {
    const block = chain.block(first + blocks.length);
    if (block === undefined) break;
    chars += JSON.stringify(block).length;
    if (chars > blocksCharsMax && blocks.length > 0) break;
    blocks.push(block);
  }
  return blocks;
}
