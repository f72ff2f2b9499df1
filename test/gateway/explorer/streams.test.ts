import type { IncomingMessage, ServerResponse } from "node:http";
import t, { type Test } from "tap";
import { openKeyStore } from "../../helpers/api-keys.ts";
import { coreKey, qaKey } from "../../helpers/gateway.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { begin, startExplorerGateway } from "./rig.ts";

/** More than the kernel holds for sockets whose readers do not read. */
const answerBytesMax = 32 * 1024 * 1024;
const eventsPath = "/explorer/api/v1/live";
const events = { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" };

t.test("what the explorer streams", async (t) => {
  const { redis, api, gateway, get } = await startExplorerGateway(t, (config) => ({
    ...config,
    explorer: {
      ...config.explorer,
      answerBytesMax,
      headTimeoutMs: 3000,
      stallMsMax: 3000,
      openMax: 3,
      openPerKeyMax: 2,
    },
  }));
  let isStopped = false;
  /** The API's sides of the streams, in the order in which they were asked for. */
  const streams: ServerResponse[] = [];
  const listen = (response: ServerResponse) => {
    streams.push(response);
    response.writeHead(200, events).flushHeaders();
  };
  t.beforeEach(() => {
    streams.length = 0;
    api.answerWith(listen);
  });
  const follow = async (t: Test, key = coreKey, headers: Record<string, string> = {}) => {
    const incoming = await begin(gateway.port, {
      path: eventsPath,
      headers: { "X-API-Key": key, ...headers },
    });
    t.teardown(() => incoming.destroy());
    return watch(incoming);
  };
  const metrics = async () => (await fetch(`${gateway.opsUrl}/metrics`)).text();
  const openAnswers = async () =>
    Number(/^tollgate_gateway_explorer_open (\d+)$/m.exec(await metrics())?.[1]);
  t.afterEach(() => waitFor("no answer is open", async () => isStopped || (await openAnswers()) === 0));

  t.test("each event comes as it is sent, and the stream ends with its reader", async (t) => {
    const stream = await follow(t, coreKey, { "Last-Event-ID": "7.0xabc" });
    t.equal(stream.status, 200);
    t.match(stream.headers, { "content-type": events["Content-Type"], "cache-control": "no-store" });
    t.match(api.requests.at(-1)?.headers, { "last-event-id": "7.0xabc" });
    await waitFor("the head came before any event", () => stream.text() === ":\n\n");
    for (const number of [1, 2]) {
      streams[0]?.write(`id: ${number}\ndata: {}\n\n`);
      await waitFor(`event ${number}`, () => stream.text().endsWith(`id: ${number}\ndata: {}\n\n`));
    }
    t.equal(await openAnswers(), 1);
    stream.close();
    await waitFor("the API's side is closed", () => api.open() === 0);
  });

  t.test("open ones are bounded: of a key, and of all", async (t) => {
    const [first] = [await follow(t), await follow(t)];
    t.equal((await get(eventsPath)).status, 429, "the key's third");
    const other = await follow(t, qaKey);
    t.equal(other.status, 200);
    const full = await get(eventsPath, { "X-API-Key": qaKey });
    t.equal(full.status, 503);
    t.match(JSON.parse(full.body), { detail: /Too many pages/ });
    first?.close();
    await waitFor("a place is free", async () => (await openAnswers()) < 3);
    t.equal((await follow(t)).status, 200);
    t.equal(streams.length, 4, "what was refused did not reach the API");
  });

  t.test("a stream ends with its key, within a second or so", async (t) => {
    const { store, create } = await openKeyStore(t, redis.url);
    const { secret, key } = await create({ permissions: ["explorer"] });
    const stream = await follow(t, secret);
    t.equal(await store.revoke(key.id), "revoked");
    await stream.closed;
    t.ok(stream.isWhole(), "the browser connects again, and is told why");
    t.equal((await get(eventsPath, { "X-API-Key": secret })).status, 401);
  });

  t.test("a stream that the API ends, ends; one that breaks off breaks off", async (t) => {
    const stream = await follow(t);
    streams[0]?.end("data: last\n\n");
    await stream.closed;
    t.ok(stream.isWhole());
    t.match(stream.text(), /data: last\n\n$/);
    const broken = await follow(t);
    streams[1]?.destroy();
    await broken.closed;
    t.notOk(broken.isWhole());
  });

  t.test("a reader that does not read holds the API back, and is let go", async (t) => {
    const endless = sendWithoutEnd();
    api.answerWith(endless.answer);
    const incoming = await begin(gateway.port, { path: "/explorer/long", headers: { "X-API-Key": coreKey } });
    incoming.pause();
    incoming.on("error", () => {});
    await waitFor("the API is let go", () => api.open() === 0);
    t.ok(endless.bytes() < answerBytesMax);
    t.match(await metrics(), /explorer_failures_total\{reason="slow reader"\} 1/);
    incoming.destroy();
  });

  t.test("a body without an end is cut off, and does not look whole", async (t) => {
    api.answerWith(sendWithoutEnd().answer);
    const { status, body, isWhole } = await get("/explorer/long");
    t.equal(status, 200);
    t.notOk(isWhole);
    t.ok(body.length <= answerBytesMax);
    await waitFor("the API is let go", () => api.open() === 0);
    t.match(await metrics(), /explorer_failures_total\{reason="too long"\} 1/);
  });

  t.test("what cannot be used is a 503, and the API is let go", async (t) => {
    const lies: Record<string, (response: ServerResponse) => void> = {
      "a head of 20 KB": (response) => response.setHeader("X-Long", "x".repeat(20_000)).end("ok"),
      "a body that says it is longer than may be": (response) => {
        response.writeHead(200, { "Content-Length": answerBytesMax + 1 }).write("x");
      },
      "a body compressed unasked": (response) => response.setHeader("Content-Encoding", "br").end("ok"),
      "a short body that breaks off": (response) => {
        response.writeHead(200, { "Content-Length": 100 }).write("x", () => response.destroy());
      },
      "no head": () => {},
      "no HTTP": (response) => response.socket?.end("hello\r\n\r\n"),
    };
    for (const [what, lie] of Object.entries(lies)) {
      api.answerWith(lie);
      t.equal((await get("/explorer/")).status, 503, what);
      await waitFor(`the API is let go after ${what}`, () => api.open() === 0);
    }
  });

  t.test(
    "a gateway that stops ends streams at once, and properly; a page on its way still comes",
    async (t) => {
      const stream = await follow(t);
      const asked: ServerResponse[] = [];
      api.answerWith((response) => void asked.push(response));
      const page = get("/explorer/");
      await waitFor("the API was asked for the page", () => asked.length === 1);
      isStopped = true;
      const stopped = gateway.stop();
      await stream.closed;
      t.ok(stream.isWhole());
      asked[0]?.end("a page");
      t.match(await page, { status: 200, body: "a page" });
      await stopped;
      t.equal(api.open(), 0);
    },
  );
});

function watch(incoming: IncomingMessage) {
  let text = "";
  incoming.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  incoming.on("error", () => {});
  return {
    status: incoming.statusCode,
    headers: incoming.headers,
    text: () => text,
    isWhole: () => incoming.complete,
    closed: new Promise((resolve) => incoming.once("close", resolve)),
    close: () => incoming.destroy(),
  };
}

function sendWithoutEnd() {
  let bytes = 0;
  return {
    bytes: () => bytes,
    answer(response: ServerResponse) {
      response.writeHead(200, { "Content-Type": "text/plain" });
      const more = () => {
        let hasRoom = true;
        while (hasRoom && !response.destroyed) {
          hasRoom = response.write(Buffer.alloc(65_536, "x"));
          bytes += 65_536;
        }
      };
      response.on("drain", more);
      more();
    },
  };
}
