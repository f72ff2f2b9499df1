import { readFileSync } from "node:fs";
import t from "tap";
import { z } from "zod";
import {
  type BlockHeader,
  blockHash,
  readBlockHeader,
  sealHash,
  signersOf,
} from "../../../lib/ibft/block-header.ts";
import { missedTurns, quorumOf } from "../../../lib/ibft/quorum.ts";

const vector = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8"));

function mustRead(json: unknown): BlockHeader {
  const read = readBlockHeader(json);
  if ("problem" in read) throw new Error(read.problem);
  return read.header;
}

/** 46 blocks in a row, 1435 to 1480; the validator 0x558a… was down from 1457 on for a while. */
const recorded = z.array(z.looseObject({ hash: z.string() })).parse(vector("besu-blocks.json"));
const headers = recorded.map(mustRead);
/** By header, in the same order: recovering signatures takes time. */
const signersOfAll = headers.map(signersOf);
const validators = z.array(z.string()).parse(vector("besu-validators.json"));
const absent = "0x558a2f9b9d35545569c5b64fad7eaaa19e6298dc";

t.test("the hash of each recorded block is recomputed from its header", async (t) => {
  t.equal(headers.length, 46);
  t.same(
    headers.map(blockHash),
    recorded.map(({ hash }) => hash),
  );
});

t.test("what is sealed is another hash than the block's own, since the round is in it", async (t) => {
  for (const header of headers) t.not(sealHash(header), header.hash);
});

t.test("each recorded block is sealed by a quorum of its validators", async (t) => {
  for (const [index, header] of headers.entries()) {
    const sealers = [...(signersOfAll[index] ?? [])];
    t.same(header.extraData.validators, validators);
    t.ok(sealers.length >= quorumOf(5), `block ${header.number}`);
    t.ok(
      sealers.every((sealer) => validators.includes(sealer)),
      `block ${header.number}`,
    );
  }
});

t.test("the validator that was down has sealed nothing since", async (t) => {
  const sealed = (from: number, to: number) =>
    headers.filter(({ number }, index) => number >= from && number <= to && signersOfAll[index]?.has(absent));
  t.ok(sealed(1435, 1456).length > 0, "before it did");
  t.same(sealed(1457, 1468), []);
});

t.test(
  "proposers take turns in ascending order, and a round above 0 names who missed its turn",
  async (t) => {
    for (const [index, header] of headers.entries()) {
      const before = headers[index - 1];
      if (before === undefined) continue;
      const { round } = header.extraData;
      const turn = validators.indexOf(before.miner) + 1 + round;
      t.equal(header.miner, validators[turn % validators.length], `block ${header.number}`);
    }
    const late = headers.filter(({ extraData }) => extraData.round > 0);
    t.same(
      late.map(({ number }) => number),
      [1457, 1461, 1465],
    );
    for (const { miner, extraData } of late) {
      t.equal(extraData.round, 1);
      t.same(missedTurns({ validators, proposer: miner, round: 1 }), [absent]);
    }
  },
);

t.test("a round above 0 shows as a gap of 4 s", async (t) => {
  for (const [index, header] of headers.entries()) {
    const before = headers[index - 1];
    if (before === undefined || header.extraData.round === 0) continue;
    t.equal(header.timestampSeconds - before.timestampSeconds, 4, `block ${header.number}`);
  }
});

t.test("one block as five validators keep it: one hash, other seals", async (t) => {
  const fiveViews = z.array(z.record(z.string(), z.string())).parse(vector("besu-extra-data-of-five.json"));
  t.equal(fiveViews.length, 5);
  for (const { number, hash, ...views } of fiveViews) {
    const block = recorded.find((candidate) => candidate.hash === hash);
    const five = Object.values(views).map((extraData) => mustRead({ ...block, number, extraData }));
    t.equal(five.length, 5);
    for (const header of five) t.equal(blockHash(header), hash);
    const union = new Set(five.flatMap((header) => [...signersOf(header)]));
    t.ok(union.size >= quorumOf(5), `block ${number}`);
    for (const header of five) t.ok([...signersOf(header)].every((sealer) => union.has(sealer)));
  }
});

t.test("a header with anything changed has another hash", async (t) => {
  for (const change of [
    { gasLimit: "0x1c9c381" },
    { stateRoot: `0x${"11".repeat(32)}` },
    { nonce: "0x0000000000000001" },
  ]) {
    t.not(blockHash(mustRead({ ...recorded[0], ...change })), recorded[0]?.hash, JSON.stringify(change));
  }
});

t.test("a seal that is no signature, or signs something else, is nobody's", async (t) => {
  const [first, second] = headers;
  if (first === undefined || second === undefined) throw new Error("there are 46 blocks");
  const foreign = { ...first, extraData: { ...first.extraData, seals: second.extraData.seals } };
  t.notOk(
    [...signersOf(foreign)].some((sealer) => validators.includes(sealer)),
    "seals of another block",
  );
  const broken = { ...first, extraData: { ...first.extraData, seals: [`0x${"ff".repeat(65)}`] } };
  t.equal(signersOf(broken).size, 0);
});

t.test("what is no header of such a chain is said to be none", async (t) => {
  t.same(readBlockHeader(null), { problem: "the block's  cannot be read" });
  t.match(readBlockHeader({ ...recorded[0], miner: undefined }), { problem: /miner/ });
  t.match(readBlockHeader({ ...recorded[0], extraData: "0x" }), { problem: /extraData/ });
});
