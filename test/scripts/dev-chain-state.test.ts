import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { createChainState } from "../../scripts/dev/chain-state.ts";
import { testFolder } from "../helpers/test-folder.ts";

const older = '{"block":1}';
const newer = '{"block":2}';

t.test("a folder without a saved chain begins a new one", async (t) => {
  const { state } = stateIn(t);
  t.same(await state.load(), { kind: "new" });
});

t.test("what was saved last is unpacked for anvil, and removed again when it has read it", async (t) => {
  const { state, folder } = stateIn(t);
  await state.save(dumpOf(older));
  await state.save(dumpOf(newer));
  t.same(await state.load(), { kind: "resumed", file: join(folder, "loaded.json") });
  t.equal(await readFile(join(folder, "loaded.json"), "utf8"), newer);
  await state.dropLoaded();
  t.same((await readdir(folder)).sort(), ["state.json.gz", "state.previous.json.gz"]);
});

t.test("only what anvil calls a state is saved", async (t) => {
  const { state, folder } = stateIn(t);
  await state.save(dumpOf(older));
  await t.rejects(state.save("0x"), { message: "anvil's state is not a gzip file" });
  t.equal(gunzipSync(await readFile(join(folder, "state.json.gz"))).toString(), older);
});

for (const [title, damage] of [
  ["cut", (whole: Buffer) => whole.subarray(0, whole.length - 5)],
  ["empty", () => Buffer.alloc(0)],
  ["with a bit turned over", (whole: Buffer) => turned(whole)],
  ["of zeros, as a power cut leaves it", (whole: Buffer) => Buffer.alloc(whole.length)],
] as const) {
  t.test(`a last state ${title} is kept aside, and the one before is resumed`, async (t) => {
    const { state, folder, said } = stateIn(t);
    await state.save(dumpOf(older));
    await state.save(dumpOf(newer));
    const file = join(folder, "state.json.gz");
    const damaged = damage(await readFile(file));
    await writeFile(file, damaged);

    t.same(await state.load(), { kind: "resumed", file: join(folder, "loaded.json") });
    t.equal(await readFile(join(folder, "loaded.json"), "utf8"), older);
    const aside = join(folder, "state.broken-2026-01-02T03-04-05.000Z.json.gz");
    t.same(await readFile(aside), damaged);
    t.match(said, [`It is kept as ${aside}.`, "The chain resumes from the state before"]);

    await state.save(dumpOf(newer));
    t.same(await state.load(), { kind: "resumed", file: join(folder, "loaded.json") });
    t.equal(await readFile(join(folder, "loaded.json"), "utf8"), newer, "and it goes on from there");
  });
}

t.test("where none can be read, it says what to type instead of beginning anew by itself", async (t) => {
  const { state, folder } = stateIn(t);
  await state.save(dumpOf(older));
  await state.save(dumpOf(newer));
  for (const name of ["state.json.gz", "state.previous.json.gz"]) await writeFile(join(folder, name), "x");
  const loaded = await state.load();
  t.match(loaded, { kind: "unreadable", text: "\n  npm start -- --reset\n" });
  t.match(
    loaded,
    { text: "state.previous.broken-2026-01-02T03-04-05.000Z.json.gz" },
    "and what to copy first",
  );
});

t.test("a crash between the two steps of saving leaves the state before", async (t) => {
  const { state, folder } = stateIn(t);
  await writeFile(join(folder, "state.previous.json.gz"), gzipSync(older));
  await writeFile(join(folder, "state.json.gz.new"), gzipSync(newer));
  t.same(await state.load(), { kind: "resumed", file: join(folder, "loaded.json") });
  t.equal(await readFile(join(folder, "loaded.json"), "utf8"), older);
});

function stateIn(t: Test) {
  const folder = testFolder(t);
  const said: string[] = [];
  const now = () => new Date("2026-01-02T03:04:05Z");
  return { folder, said, state: createChainState({ folder, say: (text) => said.push(text), now }) };
}

/** As anvil_dumpState answers: hex digits of a gzip file. */
function dumpOf(json: string): string {
  return `0x${gzipSync(json).toString("hex")}`;
}

function turned(whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  const middle = Math.floor(copy.length / 2);
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle);
  return copy;
}
