import t from "tap";
import { createLineReader, readChunkSize } from "../../../../gateway/upstream/http/line-reader.ts";

t.test("a line is the same however it is cut into pieces", async (t) => {
  const text = "1a;name=value\r\nrest";
  for (let cut = 1; cut < text.length; cut += 1) {
    const lines = createLineReader();
    let line: string | undefined;
    let read = 0;
    for (const piece of [text.slice(0, cut), text.slice(cut)]) {
      if (line !== undefined) continue;
      const next = lines.take(Buffer.from(piece), 0);
      line = lines.line();
      read += next;
    }
    t.same({ line, read }, { line: "1a;name=value", read: 15 }, `cut at ${cut}`);
  }
});

t.test("a bare line feed and a line without an end are malformed", async (t) => {
  t.equal(createLineReader().take(Buffer.from("5\n"), 0), -1);
  const lines = createLineReader();
  t.equal(lines.take(Buffer.alloc(1024, "a"), 0), 1024);
  t.equal(lines.take(Buffer.from("a"), 0), -1);
});

t.test("nothing of an earlier line is left after clear", async (t) => {
  const lines = createLineReader();
  lines.take(Buffer.from("half a li"), 0);
  lines.clear();
  lines.take(Buffer.from("5\r\n"), 0);
  t.equal(lines.line(), "5");
});

t.test("the size of a chunk is hexadecimal, with or without an extension", async (t) => {
  for (const [line, size] of [
    ["0", 0],
    ["1A", 26],
    ["ffffffff", 0xffffffff],
    ["5;ext=1", 5],
    ["5 \t;ext", 5],
    ["", undefined],
    ["g", undefined],
    ["-5", undefined],
    [" 5", undefined],
    ["0x5", undefined],
    ["100000000", undefined],
  ] as const) {
    t.equal(readChunkSize(line), size, JSON.stringify(line));
  }
});
