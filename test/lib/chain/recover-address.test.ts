import { keccak256 as ethersKeccak256, SigningKey, Wallet } from "ethers";
import t from "tap";
import { keccak256 } from "../../../lib/chain/keccak256.ts";
import { hasLowS, recoverAddress } from "../../../lib/chain/recover-address.ts";

const hex = (text: string) => Buffer.from(text.slice(2), "hex");
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const word = (value: bigint) => value.toString(16).padStart(64, "0");

function signatureOf(r: bigint, s: bigint, v: number): Uint8Array {
  return Buffer.from(`${word(r)}${word(s)}${v.toString(16).padStart(2, "0")}`, "hex");
}

t.test("bytes of every length around a block of the hash are hashed as ethers does", async (t) => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7) & 255));
  for (const length of [0, 1, 31, 32, 64, 135, 136, 137, 271, 272, 273, 1000]) {
    const part = bytes.subarray(0, length);
    t.equal(`0x${Buffer.from(keccak256(part)).toString("hex")}`, ethersKeccak256(part));
  }
  const large = Buffer.alloc(128 * 1024, 0xab);
  t.equal(`0x${Buffer.from(keccak256(large)).toString("hex")}`, ethersKeccak256(large));
});

t.test("the signer's address is found, whichever of the two ways v is written", async (t) => {
  for (let index = 1; index <= 40; index += 1) {
    const key = new SigningKey(keccak256(Buffer.from(`signer ${index}`)));
    const digest = keccak256(Buffer.from(`message ${index}`));
    const signature = hex(key.sign(digest).serialized);
    const expected = new Wallet(key).address.toLowerCase();
    t.equal(recoverAddress(digest, signature), expected);
    const shortV = Buffer.from(signature);
    shortV[64] = (signature[64] ?? 0) - 27;
    t.equal(recoverAddress(digest, shortV), expected);
    const otherV = Buffer.from(signature);
    otherV[64] = (signature[64] ?? 0) ^ 7;
    t.not(recoverAddress(digest, otherV), expected);
  }
});

t.test("what is no signature has no signer", async (t) => {
  const digest = keccak256(Buffer.from("message"));
  const { r, s, v } = new SigningKey(keccak256(Buffer.from("signer"))).sign(digest);
  const [goodR, goodS] = [BigInt(r), BigInt(s)];
  t.match(recoverAddress(digest, signatureOf(goodR, goodS, v)), /^0x[0-9a-f]{40}$/);
  const bad: Record<string, Uint8Array> = {
    nothing: new Uint8Array(0),
    "64 bytes": signatureOf(goodR, goodS, v).subarray(0, 64),
    "66 bytes": Buffer.concat([signatureOf(goodR, goodS, v), Buffer.alloc(1)]),
    "v of 2": signatureOf(goodR, goodS, 2),
    "v of 26": signatureOf(goodR, goodS, 26),
    "v of 29": signatureOf(goodR, goodS, 29),
    "v of 255": signatureOf(goodR, goodS, 255),
    "r of 0": signatureOf(0n, goodS, v),
    "s of 0": signatureOf(goodR, 0n, v),
    "r of the order": signatureOf(order, goodS, v),
    "r above the field": signatureOf(2n ** 256n - 1n, goodS, v),
    "r that is no point": signatureOf(5n, goodS, v),
  };
  for (const [name, signature] of Object.entries(bad))
    t.equal(recoverAddress(digest, signature), undefined, name);
  t.equal(
    recoverAddress(digest.subarray(1), signatureOf(goodR, goodS, v)),
    undefined,
    "a digest of 31 bytes",
  );
});

t.test("both values of s have the same signer, and the higher is told apart", async (t) => {
  const digest = keccak256(Buffer.from("message"));
  const { r, s, v } = new SigningKey(keccak256(Buffer.from("signer"))).sign(digest);
  const [goodR, lowS] = [BigInt(r), BigInt(s)];
  const [low, high] = [signatureOf(goodR, lowS, v), signatureOf(goodR, order - lowS, v === 27 ? 28 : 27)];
  t.equal(recoverAddress(digest, high), recoverAddress(digest, low));
  t.equal(hasLowS(low), true);
  t.equal(hasLowS(high), false);
  t.equal(hasLowS(signatureOf(goodR, order / 2n, v)), true);
  t.equal(hasLowS(signatureOf(goodR, order / 2n + 1n, v)), false);
});
