import { PassThrough, Readable } from "node:stream";
import t from "tap";
import { createOutput } from "../../scripts/dev/output.ts";
import { readLines } from "../../scripts/processes/read-lines.ts";

t.test("the names before lines stand in one column, coloured only where that is asked for", async (t) => {
  for (const [coloured, expected] of [
    [false, "redis    │ a\ngateway  │ b\nredis    │ c\nsaid\n"],
    [true, "\x1b[36mredis    │ \x1b[0ma\n\x1b[35mgateway  │ \x1b[0mb\n\x1b[36mredis    │ \x1b[0mc\nsaid\n"],
  ] as const) {
    const stream = new PassThrough();
    const output = createOutput({ stream, coloured });
    output.childLine("redis", "a");
    output.childLine("gateway", "b");
    output.childLine("redis", "c");
    output.say("said");
    t.equal(String(stream.read()), expected);
  }
});

t.test("a terminal that is gone does not end it", async (t) => {
  const stream = new PassThrough();
  const output = createOutput({ stream, coloured: false });
  stream.destroy(new Error("write EIO"));
  await new Promise(setImmediate);
  t.doesNotThrow(() => output.say("nobody reads this"));
});

t.test("lines of a child", async (t) => {
  const cases: [string, Buffer[], string[]][] = [
    [
      "in pieces",
      [Buffer.from("on"), Buffer.from("e\ntwo\n\nth"), Buffer.from("ree\n")],
      ["one", "two", "", "three"],
    ],
    ["the last without an end", [Buffer.from("one\ntwo")], ["one", "two"]],
    ["with carriage returns", [Buffer.from("one\r\ntwo\r\n")], ["one", "two"]],
    ["a letter of several bytes cut in two", [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ["ä"]],
    [
      "one without end is cut",
      [Buffer.alloc(150_000, "x")],
      ["x".repeat(65_536), "x".repeat(65_536), "x".repeat(18_928)],
    ],
  ];
  for (const [title, chunks, expected] of cases) {
    const lines: string[] = [];
    await readLines({ stream: Readable.from(chunks), onLine: (line) => lines.push(line) });
    t.same(lines, expected, title);
  }
});
