import { createServer } from "node:http";
import { Signature, SigningKey } from "ethers/crypto";
import { id } from "ethers/hash";
import { computeAddress } from "ethers/transaction";
import { encodeRlp, hexlify } from "ethers/utils";
import { type BlockHeader, blockHash, readBlockHeader, sealHash } from "../../lib/ibft/block-header.ts";
import { type ExtraData, encodeExtraData } from "../../lib/ibft/extra-data.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";

type Json = Record<string, unknown>;
type Call = { id: number; method: string; params: unknown[] };

const zeros = (bytes: number) => `0x${"00".repeat(bytes)}`;

/** Five validators' keys, ascending by address as headers list them. */
export const sealers = Array.from({ length: 5 }, (_, index) => {
  const key = new SigningKey(id(`validator ${index}`));
  return { key, address: computeAddress(key).toLowerCase() };
}).sort((one, other) => (one.address < other.address ? -1 : 1));
const validators = sealers.map(({ address }) => address);

/** One block of an IBFT 2.0 chain: who proposed it, in which round, and which validators sealed it. */
export type Sealing = { proposer: number; round: number; sealedBy: readonly number[] };

/** The fifth validator is away: it seals nothing and its turns pass; the others propose in turn. */
export function fifthIsAway(blockCount: number): Sealing[] {
  return Array.from({ length: blockCount }, (_, number) => {
    if (number === 0) return { proposer: 0, round: 0, sealedBy: [] };
    const turn = (number - 1) % 5;
    return turn === 4
      ? { proposer: 0, round: 1, sealedBy: [0, 1, 2, 3] }
      : { proposer: turn, round: 0, sealedBy: [0, 1, 2, 3] };
  });
}

export type SealedBlock = { json: Json; header: BlockHeader; extraData: ExtraData; sealing: Sealing };

/** Blocks without transactions, with real hashes and seals. */
export function sealedBlocks(sealings: readonly Sealing[]): SealedBlock[] {
  const blocks: SealedBlock[] = [];
  for (const [number, sealing] of sealings.entries()) {
    const parentHash = String(blocks.at(-1)?.json["hash"] ?? zeros(32));
    blocks.push(sealBlock({ number, parentHash, sealing }));
  }
  return blocks;
}

function sealBlock({
  number,
  parentHash,
  sealing,
}: {
  number: number;
  parentHash: string;
  sealing: Sealing;
}): SealedBlock {
  return sealHeader(
    {
      number: `0x${number.toString(16)}`,
      hash: zeros(32),
      parentHash,
      sha3Uncles: zeros(32),
      stateRoot: zeros(32),
      transactionsRoot: zeros(32),
      receiptsRoot: zeros(32),
      logsBloom: zeros(256),
      gasLimit: "0x1c9c380",
      gasUsed: "0x0",
      timestamp: `0x${(1_700_000_000 + 2 * number).toString(16)}`,
      size: "0x300",
      transactions: [],
    },
    sealing,
  );
}

/** The block as these validators proposed and sealed it: it gets its consensus's members and its hash. */
export function sealHeader(block: Readonly<Json>, sealing: Sealing): SealedBlock {
  const unsealed: ExtraData = {
    consensus: "ibft2",
    vanity: zeros(32),
    validators,
    vote: undefined,
    round: sealing.round,
    seals: [],
  };
  const json: Json = {
    ...block,
    miner: validators[sealing.proposer],
    difficulty: "0x1",
    extraData: encodeExtraData(unsealed),
    mixHash: zeros(32),
    nonce: zeros(8),
  };
  const read = readBlockHeader(json);
  if (!("header" in read)) throw new Error(read.problem);
  const extraData = { ...unsealed, seals: sealsOf(read.header, sealing.sealedBy) };
  json["extraData"] = encodeExtraData(extraData);
  json["hash"] = blockHash({ ...read.header, extraData });
  return { json, header: read.header, extraData, sealing };
}

export function sealsOf(header: BlockHeader, sealedBy: readonly number[]): string[] {
  const digest = sealHash(header);
  return sealedBy.map((index) => {
    const { r, s, yParity } = Signature.from(sealers[index]?.key.sign(digest));
    return hexlify(`${r}${s.slice(2)}0${yParity}`);
  });
}

/** With the size that a validator tells: its own seals are counted. */
export function sized(json: Readonly<Json>): Json {
  const read = readBlockHeader(json);
  if (!("header" in read)) throw new Error(read.problem);
  const size = (encodeRlp([[...read.header.fields], [], []]).length - 2) / 2;
  return { ...json, size: `0x${size.toString(16)}` };
}
/** The block as another validator shows it: the same hash, other seals, or a round that it made up. */
export function shownWith(
  { json, extraData, header }: SealedBlock,
  { sealedBy, round = extraData.round }: { sealedBy: readonly number[]; round?: number },
): Json {
  const told = { ...extraData, round };
  const seals = sealsOf({ ...header, extraData: { ...told, seals: [] } }, sealedBy);
  return { ...json, extraData: encodeExtraData({ ...told, seals }) };
}

export type Told = { method: string; number: number; params: readonly unknown[]; result: unknown };

/**
 * A node that knows these blocks and nothing else. `change` has the last word on each answer: what it returns is sent as
 * the result, however wrong.
 */
export async function startScriptedNode(
  t: Teardown,
  {
    blocks,
    change = ({ result }) => result,
  }: {
    blocks: readonly Json[];
    change?: (told: Told) => unknown;
  },
) {
  const state = { blocks, change };
  let isDown = false;
  const server = createServer((request, response) => {
    // It has no WebSocket, and says so to whoever asks for one.
    if (request.method !== "POST") return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (isDown) return void response.destroy();
      const body: Call | Call[] = JSON.parse(Buffer.concat(chunks).toString());
      const answer = Array.isArray(body) ? body.map(answerOf) : answerOf(body);
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  function answerOf({ id, method, params }: Call): Json {
    const [tag] = params;
    const number = tag === "latest" ? state.blocks.length - 1 : Number(tag);
    const block = state.blocks[number] ?? null;
    const result = method === "eth_getBlockReceipts" && block !== null ? [] : block;
    return { jsonrpc: "2.0", id, result: state.change({ method, number, params, result }) ?? null };
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    setBlocks(blocks: readonly Json[]) {
      state.blocks = blocks;
    },
    setChange(change: (told: Told) => unknown) {
      state.change = change;
    },
    setDown(down: boolean) {
      isDown = down;
    },
  };
}
