import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import t, { type Test } from "tap";
import { createHttpConnection, type HttpFailure } from "../../../../gateway/upstream/http/http-connection.ts";
import { writeCertificate } from "../../../helpers/certificate.ts";
import { testFolder } from "../../../helpers/test-folder.ts";
import { waitFor } from "../../../helpers/wait-for.ts";

type Answer = (request: string, socket: Socket) => void;

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server that answers as told, and a connection to it. */
async function start(
  t: Test,
  answer: Answer,
  { nowMs = () => 0, tls }: { nowMs?: () => number; tls?: { key: string; cert: string } } = {},
) {
  let connections = 0;
  const requests: string[] = [];
  const serve = (socket: Socket) => {
    connections += 1;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      requests.push(text);
      answer(text, socket);
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  const port = await listen(t, server);
  const told: string[] = [];
  let body = "";
  let settle: (how: "whole" | HttpFailure) => void = () => {};
  const http = createHttpConnection({
    target: {
      origin: `${tls === undefined ? "http" : "https"}://localhost:${port}`,
      path: "/rpc?a=b",
      headers: ["content-type", "application/json"],
      connectTimeoutMs: 2000,
    },
    now: nowMs,
    events: {
      onSent: () => told.push("sent"),
      onHead: (status) => told.push(String(status)),
      onBody(bytes) {
        body += bytes.toString("latin1");
      },
      onEnd: () => settle("whole"),
      onFailure: (failure) => settle(failure),
    },
  });
  t.teardown(() => http.drop());
  return {
    http,
    requests,
    told,
    connections: () => connections,
    body: () => body,
    async post(text: string) {
      body = "";
      const how = new Promise<"whole" | HttpFailure>((resolve) => {
        settle = resolve;
      });
      http.post(text);
      return { how: await how, body };
    },
  };
}

const ok = (body: string, more = "") =>
  `HTTP/1.1 200 OK\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

t.test("requests follow each other on one connection, each byte as it was given", async (t) => {
  const { post, requests, told, connections } = await start(t, (_request, socket) => socket.write(ok("{}")));
  t.same(await post("[1]"), { how: "whole", body: "{}" });
  t.same(await post("\xe4\xff"), { how: "whole", body: "{}" });
  t.equal(connections(), 1);
  t.same(told, ["sent", "200", "sent", "200"]);
  t.match(
    requests[0],
    /^POST \/rpc\?a=b HTTP\/1\.1\r\nHost: localhost:\d+\r\ncontent-type: application\/json\r\n/,
  );
  t.match(requests[1], /\r\nContent-Length: 2\r\n\r\n\xe4\xff$/);
});

t.test("a connection that the server closes is made anew", async (t) => {
  const { post, connections } = await start(t, (_request, socket) =>
    socket.end(ok("a", "Connection: close\r\n")),
  );
  for (let call = 1; call <= 3; call += 1) {
    t.same(await post("1"), { how: "whole", body: "a" });
    t.equal(connections(), call);
  }
});

t.test("one that was idle for longer than the server keeps it is not trusted", async (t) => {
  let nowMs = 0;
  const answer: Answer = (_request, socket) => socket.write(ok("a", "Keep-Alive: timeout=5\r\n"));
  const { post, connections } = await start(t, answer, { nowMs: () => nowMs });
  await post("1");
  nowMs += 4000;
  await post("1");
  t.equal(connections(), 1);
  nowMs += 4001;
  t.same(await post("1"), { how: "whole", body: "a" });
  t.equal(connections(), 2);
});

t.test("a body that ends with the connection is whole, one that is reset is not", async (t) => {
  let isReset = false;
  const { post } = await start(t, (_request, socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\nabc", () => {
      // After the body has been read: a reset at once would take it along.
      if (isReset) setTimeout(() => socket.resetAndDestroy(), 50);
      else socket.end();
    });
  });
  t.same(await post("1"), { how: "whole", body: "abc" });
  isReset = true;
  t.same(await post("1"), { how: "closed", body: "abc" });
});

t.test("each way to fail has its name, and the next request is served", async (t) => {
  const bad: Answer[] = [
    (_request, socket) => socket.destroy(),
    (_request, socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"),
    (_request, socket) => socket.write("garbage\r\n\r\n"),
    (_request, socket) => socket.write(`${ok("a")}more`),
  ];
  let next: Answer = () => {};
  const { post, told } = await start(t, (request, socket) => next(request, socket));
  const failures = [];
  for (const answer of bad) {
    next = answer;
    failures.push((await post("1")).how);
    next = (_request, socket) => socket.write(ok("b"));
    t.same(await post("1"), { how: "whole", body: "b" });
  }
  t.same(failures, ["closed", "closed", "malformed", "malformed"]);
  t.equal(told.filter((one) => one === "sent").length, 8, "all of them had left");
});

t.test("where no connection comes about that is told, and nothing as sent", async (t) => {
  const closed = createServer();
  const port = await listen(t, closed);
  await new Promise((resolve) => closed.close(resolve));
  const told: string[] = [];
  const failure = await new Promise<HttpFailure>((resolve) => {
    const http = createHttpConnection({
      target: { origin: `http://127.0.0.1:${port}`, path: "/", headers: [], connectTimeoutMs: 2000 },
      now: () => 0,
      events: {
        onSent: () => told.push("sent"),
        onHead() {},
        onBody() {},
        onEnd() {},
        onFailure: resolve,
      },
    });
    http.post("1");
  });
  t.equal(failure, "connect");
  t.same(told, []);
});

t.test("over TLS, to a server whose certificate is good", async (t) => {
  const { certFile, keyFile, certificate } = await writeCertificate(testFolder(t));
  const tls = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  const { post, told, requests } = await start(t, (_request, socket) => socket.write(ok("{}")), { tls });
  t.same(await post("1"), { how: "connect", body: "" }, "nobody vouches for it");
  t.same(told, []);
  t.same(requests, []);

  const before = getCACertificates();
  setDefaultCACertificates([certificate]);
  t.teardown(() => setDefaultCACertificates(before));
  t.same(await post("1"), { how: "whole", body: "{}" });
  t.same(await post("2"), { how: "whole", body: "{}" });
  t.same(told, ["sent", "200", "sent", "200"]);
});

t.test("what was dropped tells nothing more, and does not disturb what follows", async (t) => {
  const sockets: Socket[] = [];
  const { post, http, told } = await start(t, (request, socket) => {
    sockets.push(socket);
    if (request.endsWith("late")) setTimeout(() => socket.write(ok("late")), 100);
    else socket.write(ok("now"));
  });
  http.post("late");
  await waitFor("a connection is open", () => sockets.length > 0);
  http.drop();
  t.same(await post("now"), { how: "whole", body: "now" });
  // Twice as long as the dropped answer takes.
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.same(told, ["sent", "sent", "200"]);
});

t.test("a response can be held up and let on", async (t) => {
  const megabyte = "x".repeat(1_000_000);
  // In pieces, so that the whole is not there before the test has seen its beginning.
  const { post, http, body } = await start(t, (_request, socket) => {
    const text = ok(megabyte.repeat(8));
    let at = 0;
    const writing = setInterval(() => {
      socket.write(text.slice(at, at + 100_000));
      at += 100_000;
      if (at >= text.length) clearInterval(writing);
    }, 10);
  });
  const posted = post("1");
  await waitFor("the answer begins", () => body().length > 0);
  http.pause();
  // What was on its way may still come; then nothing may, in the time of ten pieces.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const held = body().length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(body().length, held, "nothing comes meanwhile");
  t.ok(held < 8_000_000);
  http.resume();
  const { how, body: whole } = await posted;
  t.equal(how, "whole");
  t.equal(whole.length, 8_000_000);
});
