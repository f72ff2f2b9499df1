import { readFile } from "node:fs/promises";
import { encodeRlp, type RlpStructuredData } from "ethers/utils";
import fc from "fast-check";
import { test } from "tap";
import { z } from "zod";
import { readBlockHeader } from "../../../lib/ibft/block-header.ts";
import { encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { unsealedSize } from "../../../lib/ibft/unsealed-size.ts";

const blocks = z
  .array(z.looseObject({ extraData: z.string(), number: z.string(), size: z.string() }))
  .parse(JSON.parse(await readFile(new URL("../../vectors/besu-blocks.json", import.meta.url), "utf8")));
const bytesOf = (...list: RlpStructuredData[]) => (encodeRlp(list).length - 2) / 2;

test("real blocks have one size, whatever seals and round their validators keep", (t) => {
  for (const block of blocks) {
    const number = Number(block.number);
    const read = readBlockHeader(block);
    if (!("header" in read)) throw new Error(read.problem);
    const { fields, extraData } = read.header;
    const withExtra = (text: string) => fields.map((field) => (field === block.extraData ? text : field));
    const sizeWith = (text: string) => bytesOf(withExtra(text), [], [], []);
    t.equal(sizeWith(block.extraData), Number(block.size), "that is how Besu counts");
    const expected = sizeWith(encodeExtraData(extraData, "without round and seals"));
    for (const count of [0, 1, 3, 4]) {
      const shown = encodeExtraData({ ...extraData, seals: extraData.seals.slice(0, count), round: count });
      t.equal(unsealedSize({ number, size: sizeWith(shown), extraData: shown }), expected);
    }
  }
  t.end();
});

test("a block of any length has the size that it would have without seals", (t) => {
  const seed = Date.now();
  t.comment(`seed ${seed}`);
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`;
  fc.assert(
    fc.property(
      fc.array(address, { maxLength: 30 }),
      fc.nat({ max: 30 }),
      fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 64_000, max: 66_500 })),
      fc.constantFrom("ibft2" as const, "qbft" as const),
      fc.nat({ max: 70_000 }),
      (validators, sealCount, bodyBytes, consensus, round) => {
        const extraData = {
          ...{ consensus, vanity: `0x${"00".repeat(32)}`, validators: validators.map(hex), vote: undefined },
          ...{ round, seals: Array.from({ length: sealCount }, () => `0x${"11".repeat(65)}`) },
        };
        const sizeWith = (text: string) =>
          bytesOf([`0x${"22".repeat(256)}`, text], `0x${"33".repeat(bodyBytes)}`, []);
        const shown = encodeExtraData(extraData);
        const expected = sizeWith(encodeExtraData(extraData, "without round and seals"));
        return unsealedSize({ number: 1, size: sizeWith(shown), extraData: shown }) === expected;
      },
    ),
    { seed, numRuns: 300 },
  );
  t.end();
});

test("what has no seals keeps its size", (t) => {
  t.equal(unsealedSize({ number: 5, size: 600, extraData: "0x" }), 600);
  t.equal(unsealedSize({ number: 0, size: 600, extraData: String(blocks[0]?.extraData) }), 600);
  t.end();
});
