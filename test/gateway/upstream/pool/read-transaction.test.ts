import { randomInt } from "node:crypto";
import { keccak256, SigningKey } from "ethers/crypto";
import { Transaction } from "ethers/transaction";
import { concat, encodeRlp, getBytes, hexlify, toBeHex } from "ethers/utils";
import t from "tap";
import { readTransaction } from "../../../../gateway/upstream/pool/read-transaction.ts";
import { createRandom as createScanRandom } from "../../json-rpc/scan-random.ts";

const chainId = 8845;
type Random = ReturnType<typeof createRandom>;

function createRandom(seed: number) {
  const random = createScanRandom(seed);
  const bytes = (length: number) => Uint8Array.from(random.many(length, () => random.below(256)));
  return { ...random, bytes };
}

/** Another one for each run, so that runs add up; a failure prints its own, and READ_SEED repeats it. */
const seed = Number(process.env["READ_SEED"] ?? randomInt(2 ** 31));
t.comment(`READ_SEED=${seed}`);

const read = (raw: string) => readTransaction(JSON.stringify([raw]), { chainId });

/** What ethers reads, as ours tells it. */
function readByEthers(raw: string) {
  try {
    const { from, nonce, hash, chainId: chain, type, signature } = Transaction.from(raw);
    if (from === null || hash === null || signature === null) return undefined;
    const isOurs = chain === BigInt(chainId) || (type === 0 && signature.networkV === null);
    if (!isOurs || type === 3 || BigInt(signature.s) > order / 2n) return undefined;
    return { sender: from.toLowerCase(), slot: `${from.toLowerCase()}:${nonce}`, hash };
  } catch {
    return undefined;
  }
}
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function randomTransaction(random: Random, { dataBytesMax = 300 } = {}): string {
  const hex = (bytes: number) => hexlify(random.bytes(bytes));
  const number = () => BigInt(hex(random.below(9) + 1)) >> BigInt(random.below(64));
  const type = [0, 0, 1, 2, 4][random.below(5)] ?? 0;
  const isUnprotected = type === 0 && random.below(2) === 0;
  const accessList = Array.from({ length: random.below(3) }, () => ({
    address: hex(20),
    storageKeys: Array.from({ length: random.below(3) }, () => hex(32)),
  }));
  const key = new SigningKey(keccak256(hex(8)));
  const transaction = Transaction.from({
    type,
    chainId: isUnprotected ? 0 : random.below(10) === 0 ? random.below(3) + 1 : chainId,
    nonce: random.below(3) === 0 ? 0 : random.below(2 ** 31),
    gasLimit: number(),
    value: number(),
    to: type !== 4 && random.below(4) === 0 ? null : hex(20),
    data: hex(random.below(dataBytesMax)),
    ...(type < 2 ? { gasPrice: number() } : { maxFeePerGas: 2n ** 72n, maxPriorityFeePerGas: number() }),
    ...(type === 0 ? {} : { accessList }),
    ...(type === 4
      ? {
          authorizationList: [
            { address: hex(20), chainId: BigInt(chainId), nonce: 1n, signature: key.sign(keccak256(hex(4))) },
          ],
        }
      : {}),
  });
  transaction.signature = key.sign(transaction.unsignedHash);
  return transaction.serialized;
}

t.test("sender, nonce and hash are what ethers reads, for every type of transaction", async (t) => {
  const random = createRandom(seed);
  for (let round = 0; round < 150; round += 1) {
    const raw = randomTransaction(random);
    const expected = readByEthers(raw);
    t.strictSame(read(raw), expected, `seed ${seed}, round ${round}: ${raw}`);
  }
});

t.test("what is read of spoilt bytes is never another sender, nonce or hash than ethers reads", async (t) => {
  const random = createRandom(seed);
  let readable = 0;
  for (let round = 0; round < 400; round += 1) {
    const bytes = getBytes(randomTransaction(random, { dataBytesMax: 80 }));
    const spoilt = spoil(bytes, random);
    const raw = hexlify(spoilt);
    const ours = read(raw);
    if (ours === undefined) continue;
    readable += 1;
    const theirs = readByEthers(raw);
    // What lists hold is left to the validators; all else is as strict.
    if (theirs !== undefined) t.strictSame(ours, theirs, `seed ${seed}, round ${round}: ${raw}`);
    else t.ok(hasList(spoilt), `seed ${seed}, round ${round}: only ours reads ${raw}`);
  }
  t.ok(readable > 20, `seed ${seed}: ${readable} were readable`);
});

const hasList = (bytes: Uint8Array) => (bytes[0] ?? 0) < 0xc0;

function spoil(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  const changed = Uint8Array.from(bytes);
  switch (random.below(5)) {
    case 0:
      changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
      return changed;
    case 1:
      return changed.subarray(0, at);
    case 2:
      return getBytes(concat([changed, random.bytes(1 + random.below(3))]));
    case 3:
      changed[at] = random.below(256);
      return changed;
    default:
      return getBytes(concat([changed.subarray(0, at), random.bytes(1), changed.subarray(at)]));
  }
}

t.test("RLP that is written in a second way is no transaction", async (t) => {
  const key = new SigningKey(keccak256("0x01"));
  const to = `0x${"11".repeat(20)}`;
  const good = ["0x01", "0x02", "0x5208", to, "0x03", "0x"];
  /** Signed as it is, so that the encoding alone is at fault. */
  const signed = (fields: string[], parts = (list: string[]) => encodeRlp(list)) => {
    const { r, s, yParity } = key.sign(keccak256(encodeRlp([...fields, toBeHex(chainId), "0x", "0x"])));
    const strip = (word: string) => toBeHex(BigInt(word));
    return parts([...fields, toBeHex(35 + 2 * chainId + yParity), strip(r), strip(s)]);
  };
  t.type(read(signed(good)), "object");
  t.equal(read(signed(["0x0001", ...good.slice(1)])), undefined, "a zero in front of a number");
  t.equal(read(signed(["0x00", ...good.slice(1)])), undefined, "zero as a byte");
  t.equal(read(signed([...good.slice(0, 3), "0x1111", "0x03", "0x"])), undefined, "a receiver of two bytes");
  t.equal(read(signed([...good, "0x"])), undefined, "a field too many");
  t.equal(read(signed(good.slice(1))), undefined, "a field too few");
  t.equal(read(`${signed(good)}00`), undefined, "a byte behind it");
  t.equal(read(signed(good).slice(0, -2)), undefined, "a byte too few");
  const withPrefix = (prefix: string) => (list: string[]) =>
    concat([prefix, ...list.map((item) => encodeRlp(item))]);
  const body = getBytes(signed(good)).length - 2;
  t.type(read(signed(good, withPrefix(`0xf8${body.toString(16)}`))), "object");
  t.equal(read(signed(good, withPrefix(`0xf900${body.toString(16)}`))), undefined, "a longer length");
  const oneAsTwo = (list: string[]) => {
    const items = concat(["0x8101", ...list.slice(1).map((item) => encodeRlp(item))]);
    return concat([`0xf8${(getBytes(items).length).toString(16)}`, items]);
  };
  t.equal(read(signed(good, oneAsTwo)), undefined, "a byte with a prefix that it need not have");
});

t.test("who signed for another chain, with the higher s or with blobs is not read", async (t) => {
  const random = createRandom(7);
  const key = new SigningKey(keccak256("0x01"));
  const fields = { nonce: 1, gasLimit: 21000n, to: hexlify(random.bytes(20)) };
  for (const type of [0, 1, 2]) {
    const prices = type < 2 ? { gasPrice: 1n } : { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
    const transaction = (chain: number) => {
      const made = Transaction.from({ ...fields, ...prices, type, chainId: chain });
      made.signature = key.sign(made.unsignedHash);
      return made;
    };
    t.type(read(transaction(chainId).serialized), "object");
    t.equal(read(transaction(1).serialized), undefined, `type ${type} of another chain`);
  }
  const blob = Transaction.from({
    ...fields,
    type: 3,
    chainId,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    maxFeePerBlobGas: 1n,
    blobVersionedHashes: [`0x01${"22".repeat(31)}`],
  });
  blob.signature = key.sign(blob.unsignedHash);
  t.equal(read(blob.serialized), undefined, "blobs");
});

t.test("the parameters may be written as JSON allows and Besu takes", async (t) => {
  const raw = randomTransaction(createRandom(3));
  const expected = read(raw);
  t.type(expected, "object");
  const texts = [
    `[ "${raw}" ]`,
    `["${raw.slice(2)}"]`,
    `["0x${raw.slice(2).toUpperCase()}"]`,
    `["\\u0030x${raw.slice(2)}"]`,
    `["${raw}",{"a":"b"}]`,
  ];
  for (const text of texts) t.strictSame(readTransaction(text, { chainId }), expected, text.slice(0, 12));
  for (const text of [
    "[]",
    "[null]",
    "[7]",
    `[["${raw}"]]`,
    '["0x"]',
    '[""]',
    `["${raw}0"]`,
    `["${raw}zz"]`,
  ]) {
    t.equal(readTransaction(text, { chainId }), undefined, text.slice(0, 12));
  }
});
