import { deepEqual } from "node:assert/strict";
import { encodeRlp } from "ethers/utils";
import fc from "fast-check";
import t from "tap";
import { decodeExtraData, type ExtraData, encodeExtraData } from "../../../lib/ibft/extra-data.ts";
import { missedTurns, quorumOf } from "../../../lib/ibft/quorum.ts";
import "../../helpers/property-seed.ts";

const vanity = `0x${"00".repeat(32)}`;
const validators = [1, 2, 3, 4, 5].map((digit) => `0x${String(digit).repeat(40)}`);
const fresh = { vanity, validators, vote: undefined, round: 0, seals: [] };

t.test("the genesis form of IBFT 2.0 has 149 bytes for five validators", async (t) => {
  const text = encodeExtraData({ consensus: "ibft2", ...fresh });
  t.equal((text.length - 2) / 2, 149);
  t.match(text, /^0xf893a0/);
  t.match(text, /808400000000c0$/, "vote 80, round 8400000000, seals c0");
});

t.test("the genesis form of QBFT has an empty list for the vote and a plain 0 for the round", async (t) => {
  t.match(encodeExtraData({ consensus: "qbft", ...fresh }), /c080c0$/);
});

t.test("what is hashed of a sealed block: IBFT 2.0 leaves out, QBFT empties", async (t) => {
  const sealed = { ...fresh, round: 3, seals: [`0x${"ab".repeat(65)}`] };
  t.match(encodeExtraData({ consensus: "ibft2", ...sealed }, "without seals"), /808400000003$/);
  t.match(encodeExtraData({ consensus: "ibft2", ...sealed }, "without round and seals"), /55{39}80$/);
  t.match(encodeExtraData({ consensus: "qbft", ...sealed }, "without seals"), /c003c0$/);
  t.match(encodeExtraData({ consensus: "qbft", ...sealed }, "without round and seals"), /c080c0$/);
});

t.test("whatever is encoded is decoded again", async (t) => {
  const hex = (bytes: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((array) => `0x${Buffer.from(array).toString("hex")}`);
  const extraData: fc.Arbitrary<ExtraData> = fc.record(
    {
      consensus: fc.constantFrom("ibft2", "qbft"),
      vanity: hex(32),
      validators: fc.array(hex(20), { maxLength: 40 }),
      vote: fc.option(fc.tuple(hex(20), fc.constantFrom("0x", "0xff")), { nil: undefined }),
      // A round of QBFT that needs four bytes would look like IBFT's: it takes months to get there.
      round: fc.integer({ min: 0, max: 0xff_ffff }),
      seals: fc.array(hex(65), { maxLength: 7 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(extraData, (original) => {
      const decoded = decodeExtraData(encodeExtraData(original));
      if ("problem" in decoded) throw new Error(decoded.problem);
      deepEqual(decoded.extraData, original);
    }),
    { numRuns: 100 },
  );
  t.pass("100 of them");
});

t.test("what is no extraData is said in plain words", async (t) => {
  const fields = [vanity, validators, "0x", "0x00000000", []];
  const cases: [unknown, RegExp][] = [
    ["", /not hexadecimal/],
    ["0xabc", /not hexadecimal/],
    ["0x", /not an RLP list/],
    ["0xf893a0", /not an RLP list/],
    [encodeRlp("0x1234"), /not an RLP list/],
    [encodeRlp(fields.slice(0, 4)), /4 fields/],
    [encodeRlp(fields.with(0, "0x00")), /32 bytes of vanity/],
    [encodeRlp(fields.with(1, ["0x1234"])), /validator that is not an address/],
    [encodeRlp(fields.with(1, "0x")), /validator that is not an address/],
    [encodeRlp(fields.with(2, [])), /vote .*0x80 in IBFT 2.0/],
    [encodeRlp([vanity, validators, "0x", "0x", []]), /vote .*0xc0 in QBFT/],
    [encodeRlp(fields.with(3, "0x0000000000")), /vote/],
    [encodeRlp(fields.with(3, [])), /list where the round/],
    [encodeRlp(fields.with(3, "0xffffffffff")), /round beyond 4 bytes/],
    [encodeRlp(fields.with(4, ["0x1234"])), /seal that is not a signature/],
  ];
  for (const [text, words] of cases) t.match(decodeExtraData(String(text)), { problem: words }, String(text));
});

t.test("a quorum is two thirds, rounded up", async (t) => {
  t.same([1, 2, 3, 4, 5, 6, 7, 10].map(quorumOf), [1, 2, 2, 3, 4, 4, 5, 7]);
});

t.test("missed turns are those before the proposer's, around the end of the list", async (t) => {
  const [first, second, , fourth, fifth] = validators;
  t.same(missedTurns({ validators, proposer: second ?? "", round: 3 }), [first, fifth, fourth]);
  t.same(missedTurns({ validators, proposer: second ?? "", round: 0 }), []);
  t.equal(missedTurns({ validators, proposer: second ?? "", round: 400 }).length, 5, "each at most once");
  t.same(missedTurns({ validators, proposer: "0x00", round: 1 }), [], "somebody who is no validator");
});
