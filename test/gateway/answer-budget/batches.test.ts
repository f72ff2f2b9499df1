import t from "tap";
import { coreKey, rpcOnlyKey } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import {
  askWithoutReading,
  boundsMet,
  heldBytes,
  kibibyte,
  lengthOf,
  logsOf,
  mebibyte,
  metric,
  type RpcAnswer,
  shortCall,
  sortOut,
  startWith,
} from "./long-answers.ts";

const bodyBytesMax = mebibyte;

t.test("answers of a batch", async (t) => {
  const redis = await startRedis(t);
  const redisUrl = redis.url;

  for (const [what, bytesMax] of [
    ["each asked of a validator", 0],
    ["all of one question, which is asked once", 64 * mebibyte],
  ] as const) {
    t.test(`beyond their bound are refused one by one, the others told: ${what}`, async (t) => {
      const gateway = await startWith(t, {
        redisUrl,
        answers: { bodyBytesMax },
        change: (config) => ({ ...config, memory: { ...config.memory, bytesMax } }),
      });
      const items = Array.from({ length: 100 }, (_, index) =>
        index % 10 === 9 ? shortCall(index) : logsOf(index, 100 * kibibyte),
      );
      const { status, text, headers } = await gateway.post(items);
      const answers: RpcAnswer[] = JSON.parse(text);
      t.equal(status, 200);
      t.match(headers.get("content-type"), "application/json");
      t.same(
        answers.map(({ id }) => id),
        items.map(({ id }) => id),
        "in the batch's order",
      );
      // 10 × 100 KiB and ten short ones are less than 1 MiB, 11 are more.
      t.same(sortOut(text), { results: 20, codes: { "-32602": 80 } });
      for (const { id, result, error } of answers) {
        if (id % 10 === 9) t.equal(result, "eth_gasPrice");
        else if (error !== undefined)
          t.match(error, { data: { code: "invalid_request" }, message: /send this call alone/ });
        else t.equal(lengthOf(result), 100 * kibibyte);
      }
      t.equal(await metric(gateway, boundsMet("body")), 80);
      t.equal(await heldBytes(gateway), 0, "all is given back");
    });
  }

  t.test("the one that is longer than a whole batch may be is refused, whatever the order", async (t) => {
    const gateway = await startWith(t, { redisUrl, answers: { bodyBytesMax } });
    for (const place of [0, 3, 6]) {
      const items = Array.from({ length: 7 }, (_, id) =>
        logsOf(id, id === place ? 2 * mebibyte : 20 * kibibyte),
      );
      const answers: RpcAnswer[] = JSON.parse((await gateway.post(items)).text);
      t.same(
        answers.filter(({ error }) => error !== undefined).map(({ id, error }) => [id, error?.code]),
        [[place, -32602]],
      );
    }
    const alone: RpcAnswer = JSON.parse((await gateway.post(logsOf(1, 2 * mebibyte))).text);
    t.equal(lengthOf(alone.result), 2 * mebibyte, "alone it streams");
    t.equal((await gateway.post([shortCall(1)])).status, 200);
  });

  t.test("bytes other than ASCII come out as they were, in pieces too", async (t) => {
    const text = "größe 🦊 ".repeat(20_000);
    const gateway = await startWith(t, {
      redisUrl,
      answers: {},
      answer: (body) => `{"jsonrpc":"2.0","id":${JSON.parse(body).id},"result":"${text}"}`,
    });
    const items = [1, 2].map((id) => ({ ...shortCall(id), id: `ü${id}` }));
    t.same(
      (await gateway.post(items)).json,
      items.map(({ id }) => ({ jsonrpc: "2.0", id, result: text })),
    );
  });

  t.test(
    "that nobody reads count for their key alone, until they are read or their client is gone",
    async (t) => {
      const keyBytesMax = 24 * mebibyte;
      const gateway = await startWith(t, { redisUrl, answers: { keyBytesMax, readGraceMs: 60_000 } });
      // Each of 12 MiB, more than a kernel buffers; different questions, so that nothing is shared.
      const batch = (reader: number) =>
        Array.from({ length: 12 }, (_, item) => logsOf(item, mebibyte, reader * 100 + item));
      const readers = [1, 2, 3, 4, 5, 6].map((reader) => askWithoutReading(t, gateway, batch(reader)));
      await waitFor(
        "the bound of a key is met 40 times",
        async () => (await metric(gateway, boundsMet("key"))) >= 40,
      );
      const held = await heldBytes(gateway);
      t.ok(held > 12 * mebibyte && held <= keyBytesMax, `${held} bytes are held`);

      t.same(sortOut((await gateway.post(batch(7))).text), { results: 0, codes: { "-32005": 12 } });
      t.match((await gateway.post([shortCall(1)])).json, [{ result: "eth_gasPrice" }], "short ones pass");
      const other = await gateway.post(batch(8), { key: rpcOnlyKey });
      t.same(sortOut(other.text), { results: 12, codes: {} }, "another key is not concerned");

      const answers: RpcAnswer[][] = await Promise.all(
        readers.slice(0, 3).map(async ({ read }) => JSON.parse(await read())),
      );
      for (const answer of answers) t.equal(answer.length, 12, "who reads later gets the whole of it");
      for (const { socket } of readers) socket.destroy();
      await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
      t.same(sortOut((await gateway.post(batch(9))).text), { results: 12, codes: {} });
      await waitFor(
        "no key holds an answer",
        async () => (await metric(gateway, "tollgate_gateway_answer_keys_holding")) === 0,
      );
    },
  );

  t.test("of many keys are bounded together: 503 with a time to wait, while short ones pass", async (t) => {
    const processBytesMax = 20 * mebibyte;
    const gateway = await startWith(t, { redisUrl, answers: { processBytesMax, readGraceMs: 60_000 } });
    const batch = (reader: number) =>
      Array.from({ length: 12 }, (_, item) => logsOf(item, mebibyte, reader * 100 + item));
    const readers = [coreKey, rpcOnlyKey].map((key, index) =>
      askWithoutReading(t, gateway, batch(index), key),
    );
    await waitFor(
      "the bound of a process is met 4 times",
      async () => (await metric(gateway, boundsMet("process"))) >= 4,
    );
    const held = await heldBytes(gateway);
    t.ok(held > 12 * mebibyte && held <= processBytesMax, `${held} bytes are held`);
    const refused = await gateway.post(batch(3), { key: rpcOnlyKey });
    t.equal(refused.status, 503);
    t.equal(refused.headers.get("retry-after"), "1");
    t.same(sortOut(refused.text), { results: 0, codes: { "-32002": 12 } });
    t.equal((await gateway.post([shortCall(1)])).status, 200);
    t.match(await (await fetch(`${gateway.opsUrl}/status`)).json(), {
      answers: { heldBytes: held, ofBytes: processBytesMax },
    });
    for (const { socket } of readers) socket.destroy();
    await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
  });

  t.test("that several wait for are in memory once", async (t) => {
    const gateway = await startWith(t, {
      redisUrl,
      answers: { readGraceMs: 60_000 },
      change: (config) => ({ ...config, memory: { ...config.memory, bytesMax: mebibyte } }),
    });
    const batch = Array.from({ length: 12 }, (_, id) => logsOf(id, mebibyte));
    const readers = [1, 2].map(() => askWithoutReading(t, gateway, batch));
    await waitFor("an answer is held", async () => (await heldBytes(gateway)) > 0);
    // Two questions at most: each batch's twelve are asked as one.
    t.ok((await heldBytes(gateway)) < 2.1 * mebibyte);
    for (const { read } of readers) t.same(sortOut(await read()), { results: 12, codes: {} });
    await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
  });

  t.test("are taken back from a client that reads too slowly, and from no other", async (t) => {
    const gateway = await startWith(t, {
      redisUrl,
      answers: { readGraceMs: 500, readBytesPerSecondMin: 4 * mebibyte },
    });
    const batch = Array.from({ length: 20 }, (_, item) => logsOf(item, mebibyte, item));
    const deaf = askWithoutReading(t, gateway, batch);
    await waitFor("an answer is held", async () => (await heldBytes(gateway)) > 0);
    t.same(
      sortOut((await gateway.post(batch)).text),
      { results: 20, codes: {} },
      "an honest reader of 20 MB",
    );
    // What the kernel took counts as read.
    await waitFor(
      "the gateway counts 1 of slow readers closed total",
      async () => (await metric(gateway, "tollgate_gateway_slow_readers_closed_total")) === 1,
      { withinMs: 20_000 },
    ).catch(() => t.fail("not closed"));
    t.equal(await heldBytes(gateway), 0);
    deaf.socket.resume();
    await waitFor("the deaf connection is closed", deaf.isClosed);
  });
});
