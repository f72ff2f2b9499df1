import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:tls";
import t, { type Test } from "tap";
import { echoMethod, startStubValidator } from "../fakes/stub-validator.ts";
import { assertOnlyGoodCallArrives, chainIdCall, post, type Rig, startRig } from "../helpers/bad-input.ts";
import { writeCertificate } from "../helpers/certificate.ts";
import { coreKey, startGateway } from "../helpers/gateway.ts";
import { type RawOutcome, type RawPiece, rawPost, rawRequest } from "../helpers/raw-http.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";

/*
 * uWebSockets.js reads chunked bodies loosely, and nothing of ours sees the bytes. What is held here is what follows for
 * others: of a connection a chunked request is the last, whatever was in it or behind it.
 */

const chunked = { "Content-Length": undefined, "Transfer-Encoding": "chunked" };
const hex = (text: string) => text.length.toString(16);
const chunk = (text: string, line = hex(text)) => `${line}\r\n${text}\r\n`;
const body = chunk(chainIdCall);
const last = "0\r\n\r\n";
/** What must never be carried out: it came inside, or behind, a request that was not its own. */
const smuggled = post('{"jsonrpc":"2.0","id":66,"method":"eth_gasPrice"}');
/** A text of so many bytes that it is JSON still. */
const padded = (bytes: number) => chainIdCall + " ".repeat(bytes - chainIdCall.length);

const vectors: Record<string, string> = {
  "a request in place of the body's last two bytes": `${body}0\r\nXX${smuggled}`,
  "a request in a trailer": `${body}0\r\nX: ${smuggled}`,
  "a request behind the body": body + last + smuggled,
  "a trailer": `${body}0\r\nX-Trailer: x\r\n\r\n`,
  "a trailer, and a request behind it": `${body}0\r\nX-Trailer: x\r\n\r\n${smuggled}`,
  "a trailer that is a request's first line": `${body}0\r\n..GET / HTTP/1.1\r\nHost: a\r\n\r\n`,
  "g for a digit": chunk(padded(16 * 16), "g0") + last,
  "; for a digit": chunk(padded(11 * 16), ";0") + last,
  "? for a digit": chunk(padded(15 * 16), "?0") + last,
  "@ for a digit": chunk(padded(16 * 16), "@0") + last,
  "junk behind a length": chunk(chainIdCall, `${hex(chainIdCall)} junk`) + last,
  "junk behind the last length": `${body}0 junk\r\n\r\n${smuggled}`,
  "bare line feeds": `${body.replaceAll("\r\n", "\n\n").replace("\n\n", "\n")}0\n\n\n`,
  "something else than CRLF behind a chunk": `${hex(chainIdCall)}\r\n${chainIdCall}XX${last}`,
  "a negative length": chunk(chainIdCall, `-${hex(chainIdCall)}`) + last,
  "0x before a length": chunk(chainIdCall, `0x${hex(chainIdCall)}`) + last,
  "an empty length": `\r\n${chainIdCall}\r\n${last}`,
  "a length of 20 digits": chunk(chainIdCall, "f".repeat(20)) + last,
  "a length below what comes": chunk(chainIdCall, "5") + last,
  "a length above what comes": chunk(chainIdCall, "ff") + last + smuggled,
  "an extension": chunk(chainIdCall, `${hex(chainIdCall)};ext=1`) + last,
  "an extension that looks like a length": chunk(chainIdCall, `${hex(chainIdCall)};a=b`) + last,
  "an extension in quotes": chunk(chainIdCall, `${hex(chainIdCall)};x="y"`) + last,
  "an extension of the last chunk": `${body}0;a=b\r\n\r\n`,
  "no last chunk": body,
};

/** More heads that say chunked: refused before or without their body, which is there all the same. */
const heads: Record<string, string> = {
  "a good key": post("", { headers: chunked }),
  "an unknown key": rawPost({ key: "an-unknown-key-of-somebody", body: "", headers: chunked }),
  "another path": post("", { headers: chunked, target: "/v1" }),
  "a claim": post("", { headers: chunked, target: "/faucet/claim" }),
  "another method": post("", { headers: chunked }).replace("POST", "PUT"),
  "another coding": post("", { headers: { ...chunked, "Transfer-Encoding": "gzip" } }),
  "a byte that is no ASCII": post("", { headers: { ...chunked, "Transfer-Encoding": "\xffchunked" } }),
  "an upgrade": post("", {
    headers: { ...chunked, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13" },
    more: ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
  }).replace("POST", "GET"),
};

t.test("a request in chunks is the last of its connection, and answered once at most", async (t) => {
  const rig = await startRig(t);
  t.jobs = 8;
  for (const [head, start] of Object.entries(heads)) {
    for (const [what, framed] of Object.entries(vectors)) {
      t.test(`${head}, ${what}`, { buffered: true }, async (t) => {
        for (const pieces of inPieces(start, framed)) {
          assertOneAnswer(t, await rawRequest(rig.gateway.port, pieces, { responses: 3 }));
        }
      });
    }
  }
  t.test("nothing was carried out that came inside another", { buffered: false }, async (t) => {
    assertNothingSmuggled(t, rig);
    rig.stub.bodies.length = 0;
    await assertOnlyGoodCallArrives(t, rig);
  });
});

t.test("nor is a request carried out that comes while a chunked one is", async (t) => {
  const rig = await startRig(t);
  rig.stub.answerWith(async (text, response, asked) => {
    // The second request comes 50 ms after the first, before its answer.
    await new Promise((resolve) => setTimeout(resolve, 150));
    return echoMethod(text, response, asked);
  });
  const pieces = [post(body + last, { headers: chunked }), { pauseMs: 50 }, smuggled];
  const outcome = await rawRequest(rig.gateway.port, pieces, { responses: 3 });
  assertOneAnswer(t, outcome);
  t.equal(outcome.responses[0]?.body, '{"jsonrpc":"2.0","id":7,"result":"eth_chainId"}');
  t.equal(outcome.responses[0]?.headers["connection"], "close");
  assertNothingSmuggled(t, rig);
});

t.test("nor behind an answer that no client takes in one piece, or that has no body", async (t) => {
  const rig = await startRig(t);
  const long = JSON.stringify("x".repeat(8_000_000));
  rig.stub.answerWith((text) => `{"jsonrpc":"2.0","id":${JSON.parse(text).id},"result":${long}}`);
  const call = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}';
  const notification = '{"jsonrpc":"2.0","method":"eth_chainId"}';
  for (const [text, lengthMin] of [
    [call, long.length],
    [notification, 0],
  ] as const) {
    const whole = post(chunk(text) + last, { headers: chunked });
    const alone = await rawRequest(rig.gateway.port, whole, { waitMs: 20_000 });
    t.ok((alone.responses[0]?.body.length ?? -1) >= lengthMin, "the whole answer");
    t.equal(alone.responses[0]?.headers["connection"], "close");
    for (const readsLast of [false, true]) {
      const pieces = [whole, { pauseMs: 100 }, smuggled, { pauseMs: 100 }, smuggled];
      const { responses } = await rawRequest(rig.gateway.port, pieces, {
        responses: 2,
        readsLast,
        waitMs: 500,
      });
      t.ok(responses.length <= 1, `${responses.length} answers`);
    }
  }
  assertNothingSmuggled(t, rig);
});

t.test("the same over TLS, whose records may come together", async (t) => {
  const tls = await writeCertificate(testFolder(t));
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [stub.url],
    change: (config) => ({ ...config, tls }),
  });
  const start = post("", { headers: chunked });
  for (const [what, framed] of Object.entries(vectors)) {
    const socket = connect({ port: gateway.port, host: "127.0.0.1", ca: tls.certificate });
    t.teardown(() => socket.destroy());
    await once(socket, "secureConnect");
    const at = Math.max(framed.lastIndexOf("0\r\n") + 3, 0);
    // Each write is a record of its own; together they are one piece of TCP or several.
    socket.cork();
    for (const piece of [start + framed.slice(0, at), framed.slice(at)]) socket.write(piece, "latin1");
    socket.uncork();
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    const startedMs = performance.now();
    await once(
      socket.on("error", () => {}),
      "close",
    );
    assertOneAnswer(t, { text, closedAfterMs: performance.now() - startedMs }, what);
  }
  assertNothingSmuggled(t, { stub });
  t.match(stub.bodies.join(), "eth_chainId", "the good ones were carried out");
});

t.test("a body that stands still is told so within a second or so", async (t) => {
  const rig = await startRig(t);
  const start = post("", { headers: chunked });
  for (const framed of [vectors["an extension that looks like a length"], vectors["no last chunk"]]) {
    const { responses, closedAfterMs } = await rawRequest(rig.gateway.port, `${start}${framed}`, {
      responses: 2,
    });
    t.equal(responses[0]?.status, 400);
    t.match(JSON.parse(responses[0]?.body ?? ""), {
      error: { code: -32600, message: /stood still.*Content-Length/ },
    });
    t.ok(closedAfterMs !== undefined && closedAfterMs < 3000, "closed");
  }
  t.same(rig.stub.bodies, [], "and nothing of it is carried out");
});

t.test("an answer that closes lets in nothing that came in the same piece", async (t) => {
  const rig = await startRig(t);
  const length = String(chainIdCall.length);
  const closing: Record<string, string> = {
    "two Content-Lengths": post(chainIdCall, { more: [`Content-Length: ${smuggled.length}`] }),
    "an empty Content-Length": post("", { headers: { "Content-Length": "" } }),
    "two Hosts": post(chainIdCall, { more: ["Host: elsewhere"] }),
    "a refused upgrade": post("", {
      headers: { Connection: "Upgrade", Upgrade: "websocket", "Content-Length": undefined, Host: undefined },
      more: ["Host: a", "Host: b", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
    }).replace("POST", "GET"),
    "a Content-Length of bytes that are no ASCII": post(chainIdCall, {
      headers: { "Content-Length": `\xff${length}` },
      more: [`Content-Length: ${length}`],
    }),
  };
  for (const [what, start] of Object.entries(closing)) {
    const outcome = await rawRequest(rig.gateway.port, start + smuggled, { responses: 3 });
    assertOneAnswer(t, outcome, what);
  }
  assertNothingSmuggled(t, rig);
});

t.test("chunkedBodies: refuse", async (t) => {
  const [redis, stub] = await Promise.all([startRedis(t), startStubValidator(t)]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [stub.url],
    change: (config) => ({ ...config, limits: { ...config.limits, chunkedBodies: "refuse" } }),
  });
  const { responses, closedAfterMs } = await rawRequest(
    gateway.port,
    post(body + last, { headers: chunked }),
    {
      responses: 2,
    },
  );
  t.equal(responses.length, 1);
  t.equal(responses[0]?.status, 400);
  t.match(JSON.parse(responses[0]?.body ?? ""), {
    error: { code: -32600, message: /Content-Length/, data: { code: "invalid_request" } },
  });
  t.ok(closedAfterMs !== undefined, "closed");
  t.same(stub.bodies, []);
  t.equal((await gateway.post(chainIdCall)).status, 200, "a body with its length passes");
});

t.test("a client that sends chunks over kept connections is served each time", async (t) => {
  const rig = await startRig(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  for (let id = 1; id <= 20; id += 1) {
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { "X-API-Key": coreKey, "Content-Type": "application/json" };
      const sent = request(rig.gateway.url, { method: "POST", agent, headers }, async (response) => {
        let whole = "";
        for await (const piece of response) whole += piece;
        resolve(whole);
      });
      sent.on("error", reject);
      // Two writes without a length: node sends chunks.
      sent.write(`{"jsonrpc":"2.0","id":${id},`);
      sent.end('"method":"net_version"}');
    });
    t.equal(text, `{"jsonrpc":"2.0","id":${id},"result":"net_version"}`);
  }
});

/** At once, cut where head, body and what is behind it meet, and in many pieces. */
function inPieces(start: string, framed: string): (readonly RawPiece[])[] {
  const pause = { pauseMs: 5 };
  const at = framed.lastIndexOf("0\r\n");
  return [
    [start + framed],
    [start, pause, framed],
    ...(at < 0 ? [] : [[start + framed.slice(0, at + 3), pause, framed.slice(at + 3)]]),
  ];
}

function assertOneAnswer(
  t: Test,
  { text, closedAfterMs }: Pick<RawOutcome, "text" | "closedAfterMs">,
  what = "",
): void {
  const answers = text.match(/HTTP\/1\.[01] \d{3} /g) ?? [];
  t.ok(answers.length <= 1, `${what} one answer at most`, { answers });
  t.ok(closedAfterMs !== undefined && closedAfterMs < 3000, `${what} closed soon`, { closedAfterMs });
}

function assertNothingSmuggled(t: Test, { stub }: Pick<Rig, "stub">): void {
  t.notMatch(stub.bodies.join("\n"), "eth_gasPrice", "what came inside another request was not carried out");
}
