import { ZeroHash } from "ethers/constants";
import { SigningKey } from "ethers/crypto";
import { id } from "ethers/hash";
import { computeAddress } from "ethers/transaction";
import { toQuantity } from "ethers/utils";
import { type Header, readHeader } from "../../../../gateway/upstream/head/read-header.ts";
import { type BlockHeader, blockHash, readBlockHeader, sealHash } from "../../../../lib/ibft/block-header.ts";
import { encodeExtraData } from "../../../../lib/ibft/extra-data.ts";
import type { HeaderChain } from "./header-chain.ts";

export type Signer = { address: string; key: SigningKey };

/** Validators by name, ascending as headers list them. */
export function signersOf(...names: string[]): Signer[] {
  return names
    .map((name) => new SigningKey(id(name)))
    .map((key) => ({ key, address: computeAddress(key).toLowerCase() }))
    .sort((one, other) => (one.address < other.address ? -1 : 1));
}

type Sealing = {
  /** Who stand in the header, and who sealed it; of those a copy keeps all but one. */
  validators: readonly Signer[];
  sealers: readonly Signer[];
};

const blank = (bytes: number) => `0x${"00".repeat(bytes)}`;

/**
 * A chain like `createHeaderChain`'s whose headers are what they say: hashed and sealed as IBFT 2.0 does it. `sealingAt`
 * says who is in a block's header and who seals it.
 */
export function createSealedHeaderChain(
  name: string,
  sealingAt: (number: number) => Sealing,
  parent?: { chain: HeaderChain; at: number },
): HeaderChain {
  const unsealed = new Map<number, ReturnType<typeof make>>();
  const sealed = new Map<number, Header>();
  const first = parent === undefined ? 0 : parent.at + 1;

  function header(number: number): ReturnType<typeof make> {
    // From the first that is not there yet on: a deep recursion would be too deep.
    for (let next = first + unsealed.size; next <= number; next += 1) {
      unsealed.set(next, make({ name, number: next, parentHash: hashBelow(next), ...sealingAt(next) }));
    }
    return unsealed.get(number) ?? make({ name, number, parentHash: ZeroHash, ...sealingAt(number) });
  }

  function hashBelow(number: number): string {
    if (number === 0) return ZeroHash;
    if (parent !== undefined && number - 1 <= parent.at) return parent.chain.block(number - 1).hash;
    return unsealed.get(number - 1)?.block.hash ?? ZeroHash;
  }

  function block(number: number): Header {
    if (parent !== undefined && number <= parent.at) return parent.chain.block(number);
    const before = sealed.get(number);
    if (before !== undefined) return before;
    const { block: bare, read } = header(number);
    const seals = number === 0 ? [] : sealingAt(number).sealers.map(({ key }) => sealWith(key, read));
    const written = { ...bare, extraData: encodeExtraData({ ...read.extraData, seals }) };
    const now = mustReadHeader(written);
    sealed.set(number, now);
    return now;
  }

  const chain: HeaderChain = {
    block,
    genesisHash: block(0).hash,
    fork: (forkName, at) => createSealedHeaderChain(forkName, sealingAt, { chain, at }),
  };
  return chain;
}

/** The same block with something else in it than what its hash stands for, or with other seals. */
export function alter(header: Header, changes: Readonly<Record<string, unknown>>): Header {
  return mustReadHeader({ ...header.block, ...changes });
}

export function mustReadHeader(json: unknown): Header {
  const header = readHeader(json);
  if (header === undefined) throw new Error("no header");
  return header;
}

function sealWith(key: SigningKey, header: BlockHeader): string {
  const { r, s, yParity } = key.sign(sealHash(header));
  return `${r}${s.slice(2)}0${yParity}`;
}

function make({
  name,
  number,
  parentHash,
  validators,
}: Sealing & { name: string; number: number; parentHash: string }) {
  const extraData = encodeExtraData({
    consensus: "ibft2",
    vanity: blank(32),
    validators: validators.map(({ address }) => address),
    vote: undefined,
    round: 0,
    seals: [],
  });
  const json = {
    number: toQuantity(number),
    hash: ZeroHash,
    parentHash,
    sha3Uncles: blank(32),
    miner: validators[number % validators.length]?.address ?? blank(20),
    // What makes blocks of one number on two chains differ.
    stateRoot: id(`${name} ${number}`),
    transactionsRoot: blank(32),
    receiptsRoot: blank(32),
    logsBloom: blank(256),
    difficulty: "0x1",
    gasLimit: "0x1c9c380",
    gasUsed: "0x0",
    timestamp: toQuantity(1_700_000_000 + number),
    extraData,
    mixHash: blank(32),
    nonce: blank(8),
    transactions: [],
  };
  const read = mustReadBlock(json);
  return { block: { ...json, hash: blockHash(read) }, read };
}

function mustReadBlock(json: unknown): BlockHeader {
  const read = readBlockHeader(json);
  if ("problem" in read) throw new Error(read.problem);
  return read.header;
}
