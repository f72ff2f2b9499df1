import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import t from "tap";
import {
  decryptWith,
  encryptFor,
  generateAgeKeys,
  isIdentity,
  isRecipient,
} from "../../../scripts/backup/archive/age.ts";
import { testFolder } from "../../helpers/test-folder.ts";

/* scripts/backup/archive/age.ts: files of the format age v1, held against Debian's age. */

const chunk = 65_536;
/** Around the bounds of chunks: the last one may be full, and is empty only in an empty file. */
const lengths = [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 17];
const missing = spawnSync("age", ["--version"]).error !== undefined;
const withoutAge =
  missing && process.env["CI"] === undefined && "age is not installed (Debian's package age)";

type Keys = Awaited<ReturnType<typeof generateAgeKeys>>;
const encrypt = (plain: Buffer, ...to: Keys[]) =>
  run(plain, encryptFor(to.map(({ recipient }) => recipient)));
const decrypt = (sealed: Buffer, ...by: Keys[]) =>
  run(sealed, decryptWith(by.map(({ identity }) => identity)));
async function run(bytes: Buffer, stage: ReturnType<typeof encryptFor>): Promise<Buffer> {
  // In pieces that fit no bound.
  const pieces = Array.from({ length: Math.ceil(bytes.length / 10_007) }, (_, index) =>
    bytes.subarray(index * 10_007, (index + 1) * 10_007),
  );
  return await pipeline(Readable.from(pieces), stage, buffer);
}

t.test("what is encrypted for several people is opened by each alone", async (t) => {
  const [anna, ben, carl] = await Promise.all([generateAgeKeys(), generateAgeKeys(), generateAgeKeys()]);
  for (const length of lengths) {
    const plain = randomBytes(length);
    const sealed = await encrypt(plain, anna, ben);
    for (const reader of [anna, ben]) t.ok(plain.equals(await decrypt(sealed, reader)), `${length} bytes`);
    await t.rejects(decrypt(sealed, carl), /none of these identities can open it/);
  }
});

t.test("a file that was cut off or changed anywhere is refused", async (t) => {
  const anna = await generateAgeKeys();
  const plain = randomBytes(2 * chunk + 100);
  const sealed = await encrypt(plain, anna);
  const head = sealed.indexOf("\n--- ");
  for (const end of [
    0,
    10,
    head,
    head + 20,
    sealed.length - plain.length,
    sealed.length - 116,
    sealed.length - 1,
  ])
    await t.rejects(decrypt(sealed.subarray(0, end), anna), { name: "AgeError" }, `the first ${end} bytes`);
  // At a chunk's end the rest is whole by itself: only the mark of the last chunk tells.
  await t.rejects(decrypt(sealed.subarray(0, sealed.length - 116), anna), /cut off/);
  await t.rejects(
    decrypt(Buffer.concat([sealed, Buffer.alloc(1)]), anna),
    { name: "AgeError" },
    "something behind it",
  );
  for (let at = 0; at < sealed.length; at += 1 + Math.floor(at / 40)) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await t.rejects(decrypt(changed, anna), { name: "AgeError" }, `byte ${at}`);
  }
});

t.test("chunks in another order are refused", async (t) => {
  const anna = await generateAgeKeys();
  const sealed = await encrypt(randomBytes(3 * chunk), anna);
  const begin = sealed.length - 3 * (chunk + 16);
  const [first, second] = [0, 1].map((n) =>
    sealed.subarray(begin + n * (chunk + 16), begin + (n + 1) * (chunk + 16)),
  );
  const swapped = Buffer.concat([
    sealed.subarray(0, begin),
    ...[second, first].filter((part) => part !== undefined),
    sealed.subarray(begin + 2 * (chunk + 16)),
  ]);
  await t.rejects(decrypt(swapped, anna), /changed or cut off/);
});

t.test("a key with a typing error is none", async (t) => {
  const { identity, recipient } = await generateAgeKeys();
  t.ok(isRecipient(recipient));
  t.ok(isIdentity(identity));
  for (const text of [
    "",
    "age1",
    recipient.slice(0, -1),
    identity,
    `${recipient}q`,
    recipient.replace(/^a/, "A"),
  ])
    t.notOk(isRecipient(text), text);
  for (let at = 4; at < recipient.length; at += 1) {
    const other = recipient[at] === "q" ? "p" : "q";
    t.notOk(isRecipient(recipient.slice(0, at) + other + recipient.slice(at + 1)));
  }
  t.notOk(isIdentity(recipient));
});

t.test("Debian's age opens our files, and we open its", { skip: withoutAge }, async (t) => {
  const [anna, ben] = await Promise.all([generateAgeKeys(), generateAgeKeys()]);
  const folder = testFolder(t, { "identity.txt": anna.identity });
  const age = (...words: string[]) => {
    const { status, stderr } = spawnSync("age", words, { encoding: "utf8" });
    t.equal(status, 0, stderr);
  };
  const file = (name: string) => join(folder, name);
  // It makes no file for nothing.
  for (const length of lengths.filter((bytes) => bytes > 0)) {
    const plain = randomBytes(length);
    writeFileSync(file("ours.age"), await encrypt(plain, ben, anna));
    age("--decrypt", "--identity", file("identity.txt"), "--output", file("opened"), file("ours.age"));
    t.ok(plain.equals(readFileSync(file("opened"))), `ours, ${length} bytes`);
    age(
      "--recipient",
      ben.recipient,
      "--recipient",
      anna.recipient,
      "--output",
      file("theirs.age"),
      file("opened"),
    );
    t.ok(plain.equals(await decrypt(readFileSync(file("theirs.age")), anna)), `theirs, ${length} bytes`);
  }
});
