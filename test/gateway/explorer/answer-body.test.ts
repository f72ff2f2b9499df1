import { PassThrough } from "node:stream";
import t from "tap";
import { type BodyFailure, createAnswerBody } from "../../../gateway/explorer/answer-body.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const patient = { isEvents: false, bytesMax: 1000, timeoutMs: 60_000, stallMsMax: 60_000 };

/** A body, what it says of itself, and what its reader got. */
function open(settings: Partial<typeof patient>) {
  const source = new PassThrough();
  const failures: BodyFailure[] = [];
  const read: string[] = [];
  const body = createAnswerBody(source, {
    ...patient,
    ...settings,
    onFailure: (why) => void failures.push(why),
  });
  const reader = {
    onChunk: (chunk: Uint8Array) => void read.push(Buffer.from(chunk).toString()),
    onEnd: () => void read.push("(end)"),
    onFailure: () => void read.push("(failure)"),
  };
  return { source, body, failures, read, reader };
}

t.test("a short body comes whole, a longer one goes on from its beginning", async (t) => {
  const short = open({});
  short.source.end("short");
  t.same(await short.body.whole(10), Buffer.from("short"));

  const long = open({});
  long.source.write("0123456789");
  long.source.write("abc");
  t.equal(await long.body.whole(10), undefined);
  const stream = long.body.stream();
  t.equal(Buffer.from(stream.first).toString(), "0123456789abc");
  long.source.end("def");
  stream.start(long.reader);
  await waitFor("the end", () => long.read.at(-1) === "(end)");
  t.same(long.read, ["def", "(end)"]);
  t.same(long.failures, []);
});

t.test("what breaks off between its beginning and its reader is told to the reader", async (t) => {
  const { source, body, failures, read, reader } = open({});
  source.write("0123456789abc");
  t.equal(await body.whole(10), undefined);
  const stream = body.stream();
  source.destroy();
  await waitFor("it is noticed", () => failures.length === 1);
  stream.start(reader);
  t.same(read, ["(failure)"]);
});

// Time is the subject of what follows.
t.test("a body that stands still is given up when its time is over", async (t) => {
  const { source, body, failures } = open({ timeoutMs: 50 });
  source.write("x");
  t.equal(await body.whole(10), "too slow");
  t.same(failures, ["too slow"]);
  t.ok(source.destroyed);
});

t.test("events end properly when their time is over", async (t) => {
  const { source, body, failures, read, reader } = open({ isEvents: true, bytesMax: 1, timeoutMs: 50 });
  body.stream().start(reader);
  source.write("data: more than bytesMax\n\n");
  await waitFor("the end", () => read.at(-1) === "(end)");
  t.same(read, ["data: more than bytesMax\n\n", "(end)"]);
  t.same(failures, []);
  t.ok(source.destroyed);
});

t.test("a reader is waited for, and let go when it takes nothing for too long", async (t) => {
  const { source, body, failures, read, reader } = open({ isEvents: true, stallMsMax: 50 });
  const stream = body.stream();
  stream.pause();
  stream.start(reader);
  source.write("held back");
  await waitFor("it is let go", () => failures.length === 1);
  t.same(failures, ["slow reader"]);
  t.same(read, ["(failure)"]);
});

t.test("when the gateway stops only events end; with their key all do", async (t) => {
  for (const [isEvents, why, expected] of [
    [true, "stopping", "(end)"],
    [true, "key ended", "(end)"],
    [false, "stopping", undefined],
    [false, "key ended", "(failure)"],
  ] as const) {
    const { source, body, read, reader } = open({ isEvents });
    body.stream().start(reader);
    body.end(why);
    t.equal(read.at(-1), expected, `${isEvents} ${why}`);
    source.destroy();
  }
});

t.test("after an abort nobody is told anything", async (t) => {
  const { source, body, failures, read, reader } = open({});
  const stream = body.stream();
  stream.start(reader);
  stream.abort();
  await waitFor("the source is closed", () => source.closed);
  t.same([failures, read], [[], []]);
});
