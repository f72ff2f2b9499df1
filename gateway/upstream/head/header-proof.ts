import { type BlockHeader, blockHash, readBlockHeader } from "../../../lib/ibft/block-header.ts";
import { judgeSeals, type SealVerdict } from "../../../lib/ibft/judge-seals.ts";
import type { Header } from "./read-header.ts";

export type HeaderProof = ReturnType<typeof createHeaderProof>;

/** Hundreds of validators' addresses and seals, as hex. */
const extraDataCharactersMax = 64 * 1024;

/**
 * Proves headers of an IBFT or QBFT chain by their own hash and by the seals of known validators. These are known from the
 * announced block or, before there is one, from the genesis block. A chain without seals (a development chain) has no known
 * validators: none of its headers is proven or refuted.
 */
export function createHeaderProof({
  proofsPerSecondMax,
  provenMax,
  judgeSeals: judge = judgeSeals,
}: {
  /** More new headers of one validator stay unjudged: each costs some recovered signatures. */
  proofsPerSecondMax: number;
  provenMax: number;
  judgeSeals?: typeof judgeSeals;
}) {
  let known: readonly string[] | undefined;
  /** Grows with each change of the known validators: an unknown header may be proven then. */
  let generation = 0;
  const readOf = new WeakMap<Header, BlockHeader | "not authentic">();
  const verdicts = new WeakMap<Header, { verdict: SealVerdict; generation: number }>();
  const proven = new Set<string>();
  const spent = new Map<string, { second: number; proofs: number }>();

  function read(header: Header): BlockHeader | "not authentic" {
    const before = readOf.get(header);
    if (before !== undefined) return before;
    const now = readAuthentic(header);
    readOf.set(header, now);
    return now;
  }

  function mayProve(label: string, nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    const before = spent.get(label);
    if (before?.second !== second) {
      spent.set(label, { second, proofs: 1 });
      return true;
    }
    before.proofs += 1;
    return before.proofs <= proofsPerSecondMax;
  }

  function decide(header: Header, label: string, nowMs: number): SealVerdict | "over budget" {
    if (known === undefined) return "unknown";
    if (proven.has(header.hash)) return read(header) === "not authentic" ? "refuted" : "proven";
    if (!mayProve(label, nowMs)) return "over budget";
    const authentic = read(header);
    return authentic === "not authentic" ? "unknown" : judge(authentic, known);
  }

  function learn(validators: readonly string[] | undefined): void {
    if (validators?.join() === known?.join()) return;
    known = validators;
    generation += 1;
  }

  return {
    /** Whether headers of this chain can be proven. */
    isSealed: () => known !== undefined,

    /** Judges a header by its seals. One with the hash of a proven block and other content is refuted. */
    judge(header: Header, label: string, nowMs: number): SealVerdict {
      const before = verdicts.get(header);
      if (before?.generation === generation) return before.verdict;
      const verdict = decide(header, label, nowMs);
      if (verdict === "over budget") return "unknown";
      verdicts.set(header, { verdict, generation });
      if (verdict !== "proven") return verdict;
      if (proven.size >= provenMax) proven.clear();
      proven.add(header.hash);
      return verdict;
    },

    /** Whether its hash is that of its content: a link to the hash is a link to this header. */
    isAuthentic: (header: Header) => read(header) !== "not authentic",

    /** Takes the first known validators from the network's genesis block, whose hash is known to be right. */
    beginWith(genesis: Header): void {
      const authentic = read(genesis);
      const validators = authentic === "not authentic" ? [] : authentic.extraData.validators;
      learn(validators.length === 0 ? undefined : validators);
    },

    /** A block was announced. Its validators are the known ones from here on, where its seals hold. */
    announced(header: Header): void {
      const authentic = read(header);
      if (authentic === "not authentic") {
        learn(undefined);
        return;
      }
      const { validators } = authentic.extraData;
      const holds = proven.has(header.hash) || judge(authentic, validators) === "proven";
      learn(holds ? validators : undefined);
    },

    reset(): void {
      learn(undefined);
      proven.clear();
    },
  };
}

function readAuthentic({ block, hash, number }: Header): BlockHeader | "not authentic" {
  const { extraData } = block;
  if (typeof extraData !== "string" || extraData.length > extraDataCharactersMax) return "not authentic";
  const read = readBlockHeader(block);
  if ("problem" in read || BigInt(read.header.number) !== number) return "not authentic";
  return blockHash(read.header) === hash ? read.header : "not authentic";
}
