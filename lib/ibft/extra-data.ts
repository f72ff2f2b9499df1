import { decodeRlp, encodeRlp, isHexString, type RlpStructuredData, toBeHex } from "ethers/utils";

export type Consensus = "ibft2" | "qbft";

/** What a header's `extraData` holds; hex strings in lower case. */
export type ExtraData = {
  consensus: Consensus;
  /** 32 bytes that mean nothing to the consensus; Besu writes its version there. */
  vanity: string;
  /** In the order of the header: ascending in live headers, any order in a genesis block. */
  validators: readonly string[];
  /** A proposal to add or remove a validator: [recipient, type]. */
  vote: readonly [string, string] | undefined;
  round: number;
  /** Signatures of 65 bytes (r, s, v). */
  seals: readonly string[];
};

/** Which parts are written: the block's hash leaves out round and seals, the digest of a seal leaves out the seals. */
export type ExtraDataPart = "all" | "without seals" | "without round and seals";

const vanityBytes = 32;
const addressBytes = 20;
const sealBytes = 65;
const ibftRoundBytes = 4;
const roundMax = 0xffff_ffff;

/**
 * IBFT 2.0: RLP([vanity, validators, vote or empty bytes, round as 4 bytes, seals]). A part that is left out is absent.
 * QBFT: RLP([vanity, validators, [vote] or [], round as a number, seals]). A part that is left out is 0 or empty.
 */
export function encodeExtraData(extraData: ExtraData, part: ExtraDataPart = "all"): string {
  const { consensus, vanity, validators, round } = extraData;
  const vote = extraData.vote === undefined ? undefined : [...extraData.vote];
  const seals = part === "all" ? [...extraData.seals] : [];
  if (consensus === "qbft") {
    const written = part === "without round and seals" || round === 0 ? "0x" : toBeHex(round);
    return encodeRlp([vanity, [...validators], vote ?? [], written, seals]);
  }
  const fields: RlpStructuredData[] = [vanity, [...validators], vote ?? "0x"];
  if (part !== "without round and seals") fields.push(toBeHex(round, ibftRoundBytes));
  if (part === "all") fields.push(seals);
  return encodeRlp(fields);
}

/** Reads `extraData` of either consensus, or says in plain words why it is neither. */
export function decodeExtraData(text: string): { extraData: ExtraData } | { problem: string } {
  const problem = (words: string) => ({ problem: `extraData ${words}` });
  if (!isHexString(text) || text.length % 2 !== 0)
    return problem("is not hexadecimal (0x and pairs of digits)");
  // A list's first byte is 0xc0 at least. Development chains write nothing here, and ethers' error costs 50 µs.
  const fields = /^0x[c-f]/i.test(text) ? rlpList(text) : undefined;
  if (fields === undefined) return problem("is not an RLP list");
  if (fields.length !== 5) {
    return problem(`has ${fields.length} fields; vanity, validators, vote, round and seals were expected`);
  }
  const [vanity, validators, vote, round, seals] = fields;
  if (!isBytes(vanity, vanityBytes)) return problem(`does not begin with ${vanityBytes} bytes of vanity`);
  if (!isBytesList(validators, addressBytes))
    return problem("has a validator that is not an address of 20 bytes");
  if (typeof round !== "string") return problem("has a list where the round should be");
  if (Number(round === "0x" ? 0 : round) > roundMax) return problem("has a round beyond 4 bytes");
  if (!isBytesList(seals, sealBytes)) return problem("has a seal that is not a signature of 65 bytes");
  // Only IBFT 2.0 writes the round as four bytes, even if it is 0.
  const consensus: Consensus = round.length === 2 + 2 * ibftRoundBytes ? "ibft2" : "qbft";
  const none = consensus === "ibft2" ? vote === "0x" : Array.isArray(vote) && vote.length === 0;
  const cast = none ? undefined : readVote(vote);
  if (!none && cast === undefined) {
    const expected = consensus === "ibft2" ? "0x80 in IBFT 2.0" : "0xc0 in QBFT";
    return problem(`has a vote that is neither [recipient, type] nor none (${expected})`);
  }
  return {
    extraData: {
      consensus,
      vanity,
      validators,
      vote: cast,
      seals,
      round: round === "0x" ? 0 : Number(round),
    },
  };
}

function rlpList(text: string): RlpStructuredData[] | undefined {
  try {
    const decoded = decodeRlp(text.toLowerCase());
    return Array.isArray(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

function isBytes(value: unknown, length: number): value is string {
  return typeof value === "string" && value.length === 2 + 2 * length;
}

function isBytesList(value: unknown, length: number): value is string[] {
  return Array.isArray(value) && value.every((item) => isBytes(item, length));
}

function readVote(value: unknown): [string, string] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [recipient, type]: unknown[] = value;
  return isBytes(recipient, addressBytes) && typeof type === "string" ? [recipient, type] : undefined;
}
