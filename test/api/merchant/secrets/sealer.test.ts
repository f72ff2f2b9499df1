import { randomBytes } from "node:crypto";
import { join } from "node:path";
import t from "tap";
import { readSealingKeys } from "../../../../api/merchant/secrets/read-sealing-keys.ts";
import { createSealer } from "../../../../api/merchant/secrets/sealer.ts";
import { testFolder } from "../../../helpers/test-folder.ts";

const [old, current] = [randomBytes(32), randomBytes(32)];

t.test("what is sealed opens for what it belongs to, and for nothing else", async (t) => {
  const sealer = createSealer({ keys: [current] });
  const sealed = sealer.seal("svc_dev_secret", "row 1");
  t.equal(sealer.open(sealed, "row 1"), "svc_dev_secret");
  t.equal(sealer.open(sealed, "row 2"), undefined);
  t.notMatch(sealed.toString("latin1"), "secret");
  t.notSame(sealer.seal("svc_dev_secret", "row 1"), sealed, "the same is never sealed to the same bytes");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    t.equal(sealer.open(changed, "row 1"), undefined, `byte ${at}`);
  }
  for (const length of [0, 12, 27]) t.equal(sealer.open(sealed.subarray(0, length), "row 1"), undefined);
});

t.test("while the key is changed, both open and the new one seals", async (t) => {
  const [before, during, after] = [[old], [current, old], [current]].map(([first = old, ...others]) =>
    createSealer({ keys: [first, ...others] }),
  );
  const ofOld = before?.seal("a", "1") ?? Buffer.alloc(0);
  t.equal(during?.open(ofOld, "1"), "a");
  t.equal(after?.open(ofOld, "1"), undefined);
  const ofNew = during?.seal("b", "1") ?? Buffer.alloc(0);
  t.equal(after?.open(ofNew, "1"), "b");
  t.same([before?.isKeyChanging, during?.isKeyChanging], [false, true]);
  t.equal(after?.open(during?.sealAnew(ofOld, "1") ?? Buffer.alloc(0), "1"), "a");
  t.equal(during?.sealAnew(ofOld, "2"), undefined, "it belongs to something else");
  t.equal(during?.sealAnew(ofNew, "1"), undefined, "it is under the new key");
  t.equal(after?.sealAnew(ofOld, "1"), undefined, "its key is gone");
});

t.test("a file has one key or two, and is named where it cannot be used", async (t) => {
  const hex = (key: Buffer) => key.toString("hex");
  const folder = testFolder(t, {
    one: `${hex(current)}\n`,
    two: `\n${hex(current).toUpperCase()}\r\n${hex(old)}\r\n`,
    three: [current, old, old].map(hex).join("\n"),
    short: hex(current).slice(2),
    empty: "",
  });
  t.same(readSealingKeys(join(folder, "one")), [current]);
  t.same(readSealingKeys(join(folder, "two")), [current, old]);
  for (const [name, message] of Object.entries({
    three: /three: one key was expected, or two .* not 3/,
    short: /short: a line of 64 hexadecimal digits/,
    empty: /empty: one key was expected/,
    none: /none: .* cannot be read \(ENOENT\)/,
  })) {
    try {
      readSealingKeys(join(folder, name));
      t.fail(name);
    } catch (error) {
      t.match(String(error), message);
      t.notMatch(String(error), hex(current).slice(2, 20));
    }
  }
});
