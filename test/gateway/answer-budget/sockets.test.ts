import t from "tap";
import { webSocketSettingsSchema } from "../../../gateway/server/websocket/web-socket-settings.ts";
import { openRawWebSocket } from "../../helpers/raw-web-socket.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { openWebSocket } from "../../helpers/web-socket-client.ts";
import {
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

t.test("long answers over a WebSocket", async (t) => {
  const redis = await startRedis(t);
  const redisUrl = redis.url;

  t.test("come whole and in order with all others, in parts", async (t) => {
    const gateway = await startWith(t, { redisUrl, answers: {} });
    const raw = await openRawWebSocket(t, gateway.port);
    raw.send(JSON.stringify(logsOf(1, 10 * mebibyte)));
    const first = await raw.next();
    t.equal(first.isFinal, false);
    const parts = [first.payload];
    for (let isFinal = false; !isFinal; ) {
      const part = await raw.next();
      t.equal(part.opcode, 0);
      parts.push(part.payload);
      isFinal = part.isFinal;
    }
    t.equal(lengthOf(JSON.parse(Buffer.concat(parts).toString()).result), 10 * mebibyte);

    const client = await openWebSocket(t, gateway.url);
    const sizes = [20 * mebibyte, 20 * kibibyte, 10, 3 * mebibyte, 64 * kibibyte, 100];
    const results = await Promise.all(
      sizes.map((bytes, variant) => client.call("eth_getLogs", logsOf(1, bytes, variant).params)),
    );
    t.same(results.map(lengthOf), sizes);
    await client.close();
    t.equal(await heldBytes(gateway), 0);
  });

  t.test("items of a batch beyond its bound are refused one by one", async (t) => {
    const gateway = await startWith(t, { redisUrl, answers: { bodyBytesMax: mebibyte } });
    const socket = await openRawWebSocket(t, gateway.port);
    const items = Array.from({ length: 20 }, (_, id) =>
      id < 15 ? logsOf(id, 100 * kibibyte, id) : shortCall(id),
    );
    socket.send(JSON.stringify(items));
    t.same(sortOut((await socket.nextMessage()).toString()), { results: 15, codes: { "-32602": 5 } });
    socket.send(JSON.stringify(logsOf(1, 2 * mebibyte)));
    t.match(JSON.parse((await socket.nextMessage()).toString()), {
      id: 1,
      error: { code: -32602, message: /alone/, data: { code: "invalid_request" } },
    });
    await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
  });

  t.test(
    "that nobody reads hold no more than their key may, however many frames are in flight",
    async (t) => {
      const keyBytesMax = 12 * mebibyte;
      const frames = 30;
      const gateway = await startWith(t, {
        redisUrl,
        answers: { keyBytesMax, readGraceMs: 60_000 },
        change: (config) => ({
          ...config,
          webSocket: webSocketSettingsSchema.parse({ waitingBytesMax: 1024 * mebibyte }),
        }),
      });
      const sockets = await Promise.all([1, 2, 3].map(() => openRawWebSocket(t, gateway.port)));
      for (const [index, socket] of sockets.entries()) {
        socket.pause();
        for (let id = 0; id < frames; id += 1)
          socket.send(JSON.stringify(logsOf(id, mebibyte, index * 100 + id)));
      }
      await waitFor(
        "the bound of a key is met 40 times",
        async () => (await metric(gateway, boundsMet("key"))) >= 40,
      );
      const held = await heldBytes(gateway);
      t.ok(held > 8 * mebibyte && held <= keyBytesMax, `${held} bytes are held`);
      const totals = { results: 0, refused: 0 };
      for (const socket of sockets) {
        socket.resume();
        const ids = new Set<number>();
        for (let seen = 0; seen < frames; seen += 1) {
          const answer: RpcAnswer = JSON.parse((await socket.nextMessage()).toString());
          ids.add(answer.id);
          if (answer.error === undefined) totals.results += 1;
          else if (answer.error.code === -32005) totals.refused += 1;
        }
        t.equal(ids.size, frames, "each frame is answered once");
      }
      t.equal(totals.results + totals.refused, 3 * frames);
      t.ok(totals.results >= 12, `${totals.results} with results`);
      await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
    },
  );

  t.test("are taken back when the socket ends", async (t) => {
    const gateway = await startWith(t, { redisUrl, answers: { readGraceMs: 60_000 } });
    const socket = await openRawWebSocket(t, gateway.port);
    socket.pause();
    for (let id = 0; id < 2; id += 1) socket.send(JSON.stringify(logsOf(id, 12 * mebibyte, id)));
    await waitFor(
      "more than 10 MiB of answers are held",
      async () => (await heldBytes(gateway)) > 10 * mebibyte,
    );
    socket.end();
    await waitFor("no answer is held", async () => (await heldBytes(gateway)) === 0);
    await waitFor(
      "no key holds an answer",
      async () => (await metric(gateway, "tollgate_gateway_answer_keys_holding")) === 0,
    );
  });

  t.test("are taken back from a client that reads too slowly", async (t) => {
    const gateway = await startWith(t, {
      redisUrl,
      answers: { readGraceMs: 500, readBytesPerSecondMin: 4 * mebibyte },
    });
    const socket = await openRawWebSocket(t, gateway.port);
    socket.pause();
    socket.send(JSON.stringify(logsOf(1, 24 * mebibyte)));
    await waitFor(
      "the gateway counts 1 of slow readers closed total",
      async () => (await metric(gateway, "tollgate_gateway_slow_readers_closed_total")) === 1,
      { withinMs: 20_000 },
    );
    await waitFor(
      "the gateway counts 0 of sockets",
      async () => (await metric(gateway, "tollgate_gateway_sockets")) === 0,
    );
    t.equal(await heldBytes(gateway), 0);
  });

  t.test("a stop waits until a long answer is read", async (t) => {
    const gateway = await startWith(t, { redisUrl, answers: {} });
    const socket = await openRawWebSocket(t, gateway.port);
    socket.pause();
    socket.send(JSON.stringify(logsOf(1, 24 * mebibyte)));
    await waitFor("an answer is held", async () => (await heldBytes(gateway)) > 0);
    const stopped = gateway.stop();
    socket.resume();
    t.equal(lengthOf(JSON.parse((await socket.nextMessage()).toString()).result), 24 * mebibyte);
    t.match(await socket.closed, { code: 1001 });
    await stopped;
  });
});
