import { test } from "tap";
import { createBackfillLog } from "../../../api/follower/backfill-log.ts";
import { readIndexNews } from "../../../api/follower/index-row.ts";
import { readAhead } from "../../../api/follower/read-ahead.ts";

test("ranges come in order, so many read ahead and no more, up to an end that grows", async (t) => {
  let reading = 0;
  let readingMax = 0;
  let last = 9;
  const taken: string[] = [];
  const ranges = readAhead({
    first: 0,
    last: () => last,
    ahead: 3,
    blocks: () => 2,
    async read(from, to) {
      reading += 1;
      readingMax = Math.max(readingMax, reading);
      // The first of each three is the slowest.
      for (let turn = 0; turn < 6 - (from % 6); turn += 1) await Promise.resolve();
      return `${from}-${to}`;
    },
  });
  for await (const range of ranges) {
    reading -= 1;
    taken.push(range);
    if (range === "8-9" && last === 9) last = 12;
  }
  t.same(taken, ["0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-12"]);
  t.equal(readingMax, 3);
});

test("a range that fails ends the others once they are read", async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const ranges = readAhead({
    first: 0,
    last: () => 5,
    ahead: 3,
    blocks: () => 2,
    read: (from) => (from === 0 ? Promise.reject(new Error("bad")) : promise),
  });
  let isOver = false;
  const next = ranges.next().finally(() => {
    isOver = true;
  });
  next.catch(() => {});
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  t.equal(isOver, false);
  resolve("read");
  await t.rejects(next, { message: "bad" });
});

test("a backfill says its speed and what is left every ten seconds, and when it is over", (t) => {
  let nowMs = 0;
  const lines: object[] = [];
  const log = createBackfillLog({
    logger: { info: (line: object) => void lines.push(line) },
    monotonicMs: () => nowMs,
  });
  log.at({ next: 0, head: 10 });
  t.same(lines, [], "a few blocks are no backfill");
  log.at({ next: 0, head: 9999 });
  for (nowMs = 1000; nowMs <= 20_000; nowMs += 1000) log.at({ next: nowMs / 10, head: 9999 });
  log.at({ next: 10_000, head: 9999 });
  t.match(lines, [
    { behindBlocks: 10_000 },
    { next: 1000, blocksPerSecond: 100, secondsLeft: 90 },
    { next: 2000, blocksPerSecond: 100, secondsLeft: 80 },
    { next: 10_000 },
  ]);
  t.equal(lines.length, 4);
  t.end();
});

test("what others tell of the index is read, or left", (t) => {
  t.same(readIndexNews("3.17"), { epoch: 3, next: 17 });
  for (const text of ["", "3", "3.", "a.b", "3.17.1", `1.${"9".repeat(40)}`]) {
    t.equal(readIndexNews(text), undefined);
  }
  t.end();
});
