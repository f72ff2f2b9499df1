import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import t from "tap";
import { isStreamed, type StreamedAnswer } from "../../../../gateway/upstream/upstream-result.ts";
import { type StubAnswer, startStubValidator } from "../../../fakes/stub-validator.ts";
import { startStopwatch } from "../../../helpers/stopwatch.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { callsOf, callTo, createGate, echo, startPool } from "./start-pool.ts";

const mebibyte = 1024 * 1024;
const traceCall = callTo("debug_traceTransaction", ["0x1"]);
const piece = Buffer.from(`{"op":"SSTORE","note":"größe 🦊","pad":"${"x".repeat(64 * 1024)}"},`);

/** A trace of at least `bytes`, written as fast as it is taken. `seen` is of the latest: what has left of it so far. */
function tracing({ bytes }: { bytes: number }) {
  let seen = { written: 0, digest: "" };
  async function* trace() {
    const mine = { written: 0, digest: "" };
    seen = mine;
    const digest = createHash("sha256");
    const counted = (chunk: Buffer) => {
      digest.update(chunk);
      mine.written += chunk.length;
      return chunk;
    };
    yield counted(Buffer.from('{"jsonrpc":"2.0","id":1,"result":['));
    while (mine.written < bytes) yield counted(piece);
    const end = counted(Buffer.from("{}]}"));
    mine.digest = digest.digest("hex");
    yield end;
  }
  const write = (response: ServerResponse) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    // Fails where the reader goes away, which is what some of these tests are about.
    return pipeline(Readable.from(trace(), { highWaterMark: 1 }), response).catch(() => {});
  };
  const answer: StubAnswer = (body, response, request) => {
    if (!body.includes("debug_trace")) return echo(body, response, request);
    void write(response);
    return undefined;
  };
  return { answer, seen: () => seen };
}

async function streamOf(pool: ReturnType<typeof startPool>["pool"]): Promise<StreamedAnswer> {
  const answer = await pool.ask(traceCall, { mayStream: true });
  if (typeof answer === "string" || !isStreamed(answer)) throw new Error("a stream was expected");
  return answer;
}

/** Reads a stream; `slowly` stops after each chunk until told to go on. */
function readStream(stream: StreamedAnswer, { idText = "1", slowly = false } = {}) {
  const digest = createHash("sha256")
    .update(Buffer.from(stream.beforeId + idText, "latin1"))
    .update(stream.afterId);
  const read = {
    bytes: stream.beforeId.length + idText.length + stream.afterId.length,
    chunks: 0,
    outcome: "open",
  };
  const over = new Promise<string>((resolve) => {
    const end = (outcome: string) => {
      read.outcome = outcome;
      resolve(outcome);
    };
    stream.start({
      onChunk(chunk) {
        digest.update(chunk);
        read.bytes += chunk.length;
        read.chunks += 1;
        if (slowly) stream.pause();
      },
      onEnd: () => end("ended"),
      onFailure: () => end("failed"),
    });
  });
  return { read, over, digest: () => digest.digest("hex") };
}

t.test("a long answer streams, every byte but the id as it was written", async (t) => {
  const { answer, seen } = tracing({ bytes: 20 * mebibyte });
  const stub = await startStubValidator(t, { answer });
  const { pool, validator } = startPool(t, [stub.url]);
  const stream = await streamOf(pool);
  t.equal(stream.beforeId, '{"jsonrpc":"2.0","id":');
  t.equal(stream.afterId.toString("latin1", 0, 11), ',"result":[');
  t.equal(validator(0).lanes["slow"]?.inFlight, 1);
  const { read, over, digest } = readStream(stream);
  t.equal(await over, "ended");
  t.equal(read.bytes, seen().written);
  t.equal(digest(), seen().digest);
  t.ok(read.chunks > 100, "in pieces");
  t.ok(await waitFor("no slow calls in flight", () => validator(0).lanes["slow"]?.inFlight === 0));
  const next = readStream(await streamOf(pool));
  t.equal(await next.over, "ended", "the next comes the same way");
});

t.test("a slow reader holds the validator back, its one place, and nobody else", async (t) => {
  const { answer, seen } = tracing({ bytes: 64 * mebibyte });
  const stub = await startStubValidator(t, { answer });
  const { ask, pool, validator } = startPool(t, [stub.url]);
  const stream = await streamOf(pool);
  const { read, over } = readStream(stream, { slowly: true });
  await waitFor("one chunk read", () => read.chunks === 1);
  let before = -1;
  await waitFor(
    "both sockets' buffers are full and nothing moves",
    () => {
      const { written } = seen();
      const isStill = written === before;
      before = written;
      return isStill;
    },
    { everyMs: 200 },
  );
  const heldBytes = read.bytes;
  t.ok(heldBytes < mebibyte, `${heldBytes} bytes came`);
  t.ok(seen().written < 20 * mebibyte, `${seen().written} bytes left the validator`);

  const stopwatch = startStopwatch();
  for (let round = 0; round < 20; round += 1) t.match(await ask("web3_sha3", ["x"]), /result/);
  t.ok(stopwatch.elapsedMs() < 500);
  t.equal(validator(0).lanes["slow"]?.inFlight, 1);
  t.equal(read.bytes, heldBytes, "not a byte came meanwhile");

  while (read.outcome === "open") {
    const { chunks } = read;
    stream.resume();
    await new Promise((resolve) => setImmediate(resolve));
    if (read.chunks - chunks > 20) t.fail(`${read.chunks - chunks} chunks at once`);
  }
  t.equal(await over, "ended");
  t.equal(read.bytes, seen().written);
});

t.test("an answer that stays short comes whole", async (t) => {
  const { answer } = tracing({ bytes: 100 * 1024 });
  const stub = await startStubValidator(t, { answer });
  const { pool } = startPool(t, [stub.url]);
  const whole = await pool.ask(traceCall, { mayStream: true });
  t.ok(typeof whole !== "string" && !isStreamed(whole) && !whole.isAscii);
});

t.test("who cannot take a stream gets the answer whole, up to a limit", async (t) => {
  const { answer, seen } = tracing({ bytes: 3 * mebibyte });
  const stubs = await Promise.all([0, 1].map(() => startStubValidator(t, { answer })));
  const urls = stubs.map(({ url }) => url);
  const whole = await startPool(t, urls).pool.ask(traceCall);
  t.ok(typeof whole !== "string" && whole.afterId.length + whole.beforeId.length + 1 === seen().written);
  const { pool, validator } = startPool(t, urls, { settings: { answerBytesMax: 2 * mebibyte } });
  t.equal(await pool.ask(traceCall), "too_large");
  t.equal((validator(0).failovers["too_large"] ?? 0) + (validator(1).failovers["too_large"] ?? 0), 0);
  t.equal(stubs.flatMap(({ bodies }) => bodies).length, 2, "no other is asked to run a trace again");
  t.ok([0, 1].every((index) => validator(index).lastTakenOut === null));
});

t.test("an id that does not stand where validators write it is found in the whole answer", async (t) => {
  const stub = await startStubValidator(t, {
    answer: () => `{"result":"${"x".repeat(mebibyte)}","id":1,"jsonrpc":"2.0"}`,
  });
  const { pool } = startPool(t, [stub.url]);
  const whole = await pool.ask(traceCall, { mayStream: true });
  t.ok(typeof whole !== "string" && !isStreamed(whole) && whole.afterId === ',"jsonrpc":"2.0"}');
});

t.test(
  "before the first byte a call that streams is lost with its validator, and put to no other",
  async (t) => {
    const cut: StubAnswer = (_body, response) => {
      response.writeHead(200).write('{"jsonrpc":"2.0","id":1,"result":[');
      // After its first bytes have left.
      setTimeout(() => response.destroy(), 10);
      return undefined;
    };
    const { answer, seen } = tracing({ bytes: 2 * mebibyte });
    const cutting = await startStubValidator(t, { answer: cut });
    const sound = await startStubValidator(t, { answer });
    const { pool } = startPool(t, [cutting.url, sound.url]);
    let lost = 0;
    while (lost === 0) {
      const asked = await pool.ask(traceCall, { mayStream: true });
      if (typeof asked === "string") {
        t.equal(asked, "lost");
        lost += 1;
      } else if (isStreamed(asked)) {
        const { read, over } = readStream(asked);
        t.equal(await over, "ended");
        t.equal(read.bytes, seen().written);
      }
    }
    t.equal(cutting.bodies.length, 1);
  },
);

t.test("after the first byte the reader hears of the failure", async (t) => {
  const dying = tracing({ bytes: 400 * mebibyte });
  const last = await startStubValidator(t, { answer: dying.answer });
  const { pool: lastPool, validator } = startPool(t, [last.url]);
  const { read, over } = readStream(await streamOf(lastPool));
  await waitFor("more than 10 chunks read", () => read.chunks > 10);
  await last.stop();
  t.equal(await over, "failed");
  t.ok(await waitFor("no slow calls in flight", () => validator(0).lanes["slow"]?.inFlight === 0));
});

t.test("a client that leaves ends its stream and frees its place", async (t) => {
  const { answer } = tracing({ bytes: 400 * mebibyte });
  const gate = createGate(answer);
  let closed = 0;
  const stub = await startStubValidator(t, {
    answer(body, response, request) {
      response.on("close", () => {
        closed += 1;
      });
      return gate.answer(body, response, request);
    },
  });
  gate.open();
  const { pool, validator } = startPool(t, [stub.url], { settings: { connections: { slow: 1 } } });
  const started = await streamOf(pool);
  const { read } = readStream(started);
  await waitFor("more than three chunks read", () => read.chunks > 3);
  started.abort();
  t.ok(await waitFor("one closed", () => closed === 1));
  t.ok(await waitFor("no slow calls in flight", () => validator(0).lanes["slow"]?.inFlight === 0));
  t.equal(read.outcome, "open", "and is told nothing more");

  const neverStarted = await streamOf(pool);
  neverStarted.abort();
  neverStarted.abort();
  t.ok(await waitFor("two closed", () => closed === 2));

  gate.close();
  t.equal(await pool.ask(traceCall, { mayStream: true, timeoutMs: 50 }), "overdue");
  gate.open();
  t.ok(
    await waitFor(
      "an answer for nobody is not read to its end",
      () => validator(0).lanes["slow"]?.inFlight === 0,
    ),
    "an answer for nobody is not read to its end",
  );
  t.equal(validator(0).lastTakenOut, null, "none of which is held against the validator");
});

t.test("a stream that stands still for too long, or takes too long in all, is ended", async (t) => {
  const { answer } = tracing({ bytes: 400 * mebibyte });
  const stub = await startStubValidator(t, { answer });
  const settings = { health: { sweepMs: 20 } };
  const still = startPool(t, [stub.url], { settings: { ...settings, streamStallMs: 200 } });
  const slow = readStream(await streamOf(still.pool), { slowly: true });
  t.equal(await slow.over, "failed");
  t.equal(still.validator(0).lanes["slow"]?.inFlight, 0);

  const forgotten = await streamOf(still.pool);
  t.ok(
    await waitFor("also one that was never started", () => still.validator(0).lanes["slow"]?.inFlight === 0),
    "also one that was never started",
  );
  t.equal(await readStream(forgotten).over, "failed");

  const long = startPool(t, [stub.url], { settings: { ...settings, streamMsMax: 200 } });
  const stream = await streamOf(long.pool);
  const reading = readStream(stream, { slowly: true });
  const resuming = setInterval(() => stream.resume(), 10);
  t.equal(await reading.over, "failed");
  clearInterval(resuming);
});

t.test("an array's answers never stream", async (t) => {
  const stub = await startStubValidator(t, {
    answer(body) {
      const { calls } = callsOf(body);
      return `[${calls.map(({ id }) => `{"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(mebibyte)}"}`).join(",")}]`;
    },
  });
  const { pool } = startPool(t, [stub.url]);
  const asks = ["a", "b"].map((name) => pool.ask(callTo("web3_sha3", [name]), { mayStream: true }));
  for (const answer of await Promise.all(asks)) t.ok(typeof answer !== "string" && !isStreamed(answer));
});
