import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { packFolder, unpackFolder } from "../../../scripts/backup/parts/tar.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test("an archive is whole where tar ends at its end marker, before the stream does", async (t) => {
  const folder = testFolder(t, { from: { a: "1" }, into: {} });
  const archive = Buffer.concat(await packFolder(join(folder, "from")).toArray());
  let isDrained = false;
  async function* late() {
    yield archive;
    // tar has ended meanwhile; what comes is padding, which whoever checks the stream has to see.
    await sleep(300);
    for (let piece = 0; piece < 64; piece += 1) yield Buffer.alloc(65_536);
    isDrained = true;
  }
  await unpackFolder(Readable.from(late()), join(folder, "into"));
  t.equal(readFileSync(join(folder, "into", "a"), "utf8"), "1");
  t.ok(isDrained);
});

t.test("what is no archive is refused in tar's words, and a stream that fails in its own", async (t) => {
  const into = testFolder(t, {});
  async function* noise() {
    for (let piece = 0; piece < 64; piece += 1) yield Buffer.alloc(65_536, "x");
  }
  await t.rejects(unpackFolder(Readable.from(noise()), into), /does not look like a tar archive/);
  async function* broken() {
    yield Buffer.alloc(512);
    throw new Error("the disk is gone");
  }
  await t.rejects(unpackFolder(Readable.from(broken()), into), /the disk is gone/);
});
