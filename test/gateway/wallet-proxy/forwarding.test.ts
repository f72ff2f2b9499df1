import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { WebSocket } from "ws";
import { rawRequest } from "../../helpers/raw-http.ts";
import { ask, chainIdCall, startProxy, startTarget } from "./rig.ts";

t.test("JSON-RPC arrives with the key, and without what is the browser's", async (t) => {
  const target = await startTarget(t);
  const { port, key } = await startProxy(t, { gatewayUrl: target.url });
  const { status, body } = await ask(port, {
    headers: {
      "X-API-Key": "a key of the client's own",
      Cookie: "session=of another server on localhost",
      Origin: "http://localhost:3000",
      Referer: "http://localhost:3000/",
      "User-Agent": "wallet/1",
    },
  });
  t.equal(status, 200);
  t.equal(body, '{"jsonrpc":"2.0","id":1,"result":"0x228d"}');
  const [arrived] = target.requests;
  t.match(arrived, {
    method: "POST",
    url: "/",
    body: chainIdCall,
    headers: {
      "x-api-key": key,
      host: `127.0.0.1:${target.port}`,
      "content-type": "application/json",
      "user-agent": "wallet/1",
    },
  });
  for (const name of ["cookie", "origin", "referer"]) t.notOk(arrived?.headers[name], name);
});

t.test("what our own pages remember goes along with the explorer's, and with nothing else", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const headers = { Cookie: "session=secret; tollgate_language=id; tollgate_language=a,b" };
  await ask(port, { method: "GET", path: "/explorer/blocks", headers });
  t.equal(target.requests.at(-1)?.headers.cookie, "tollgate_language=id");
  await ask(port, { headers });
  t.notOk(target.requests.at(-1)?.headers.cookie);
  await ask(port, { method: "GET", path: "/explorer/", headers: { Cookie: "session=secret" } });
  t.notOk(target.requests.at(-1)?.headers.cookie);
});

t.test("a WebSocket arrives with the key, and carries text and bytes both ways", async (t) => {
  const target = await startTarget(t);
  const { port, key } = await startProxy(t, { gatewayUrl: target.url });
  const socket = new WebSocket(`ws://localhost:${port}/`, { headers: { "X-API-Key": "the client's own" } });
  t.teardown(() => socket.terminate());
  await once(socket, "open");
  t.match(target.requests, [{ method: "upgrade", url: "/", headers: { "x-api-key": key } }]);
  for (const message of ["hello", Buffer.from([0, 255, 128]), "x".repeat(1_000_000)]) {
    socket.send(message);
    const [echoed, isBinary] = await once(socket, "message");
    t.equal(isBinary, typeof message !== "string");
    t.ok(Buffer.from(message).equals(echoed), `${message.length} come back`);
  }

  t.test("and closes with the gateway's end of it", async (t) => {
    const closed = once(socket, "close");
    await target.stop();
    t.same((await closed)[0], 1006);
  });
});

t.test("which paths and methods there are", async (t) => {
  const target = await startTarget(t);
  const { port, url } = await startProxy(t, { gatewayUrl: target.url });
  const passed = [
    ["GET", "/explorer/"],
    ["GET", "/explorer/blocks/12?page=2"],
    ["HEAD", "/explorer/style.css"],
    ["GET", "/explorer"],
    ["POST", "/explorer/graphql"],
    ["POST", "/"],
    ["POST", "/?x=1"],
  ] as const;
  for (const [method, path] of passed) {
    t.equal((await ask(port, { method, path })).status, 200, `${method} ${path}`);
    t.match(target.requests.at(-1), { method, url: path });
  }
  const refused = [
    ["GET", "/explorers", 404],
    ["POST", "/explorer", 405],
    ["GET", "/status", 404],
    ["POST", "/faucet/claim", 404],
    ["GET", "/explorer/../status", 404],
    ["GET", "/explorer/%2e%2e/status", 404],
    ["GET", "/explorer/..\\status", 404],
    ["GET", "//evil.example/explorer/", 404],
    ["GET", "/\\\\evil.example/explorer/", 404],
    ["GET", "http://evil.example/explorer/", 404],
    ["POST", "http://evil.example/", 404],
    ["POST", "/explorer/", 405],
    ["DELETE", "/", 405],
    ["PUT", "/network.json", 405],
    ["POST", "/network.json", 405],
  ] as const;
  for (const [method, path, expected] of refused) {
    const { status, body, headers } = await ask(port, { method, path });
    t.equal(status, expected, `${method} ${path}`);
    t.match(body, expected === 404 ? `JSON-RPC is at ${url}` : "This path takes ");
    if (expected === 405) t.match(headers.allow, /^(?:GET|POST)/);
  }
  t.equal(target.requests.length, passed.length, "nothing else reached the gateway");
});

t.test("bodies stream: neither is gathered before it is passed on", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });

  t.test("an answer's first bytes come before its last are written", async (t) => {
    let finish = () => {};
    target.answerWith((response) => {
      response.write("first ");
      finish = () => response.end("last");
    });
    const socket = connect({ port, host: "127.0.0.1" });
    t.teardown(() => socket.destroy());
    socket.write(`POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 2\r\n\r\n{}`);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    while (!text.includes("first ")) await once(socket, "data");
    t.notMatch(text, "last");
    finish();
    while (!text.includes("last")) await once(socket, "data");
  });

  t.test("an answer that breaks off breaks off: it does not look whole, and nobody waits", async (t) => {
    target.answerWith((response) => {
      response.write("half of it", () => response.destroy());
    });
    const { text, closedAfterMs } = await rawRequest(
      port,
      `POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 2\r\n\r\n{}`,
    );
    t.match(text, "half of it");
    t.notMatch(text, /\r\n0\r\n/, "no last chunk");
    t.type(closedAfterMs, "number", "the connection was closed");
  });

  t.test("ten megabytes arrive as they were", async (t) => {
    target.answerWith((response, { body }) => response.end(String(body.length)));
    t.equal((await ask(port, { body: "x".repeat(10_000_000) })).body, "10000000");
  });
});

t.test(
  "a gateway that is away: 503, a JSON-RPC error with the request's id, and it comes back",
  async (t) => {
    const target = await startTarget(t);
    const { port, logLines, key } = await startProxy(t, { gatewayUrl: target.url });
    t.equal((await ask(port)).status, 200);
    await target.stop();

    const cases = [
      [chainIdCall, 7],
      ['{"jsonrpc":"2.0","id":"a-b","method":"eth_chainId"}', "a-b"],
      [`[${chainIdCall}]`, null],
      ["no JSON", null],
      [`{"jsonrpc":"2.0","id":8,"method":"x","params":["${"x".repeat(50_000)}"]}`, null],
    ] as const;
    for (const [body, id] of cases) {
      const answered = await ask(port, { body });
      t.equal(answered.status, 503);
      t.equal(answered.headers["content-type"], "application/json");
      t.equal(answered.headers["retry-after"], "1");
      t.match(JSON.parse(answered.body), {
        jsonrpc: "2.0",
        id,
        error: {
          code: -32002,
          message: `The gateway (${target.url}) does not answer: ECONNREFUSED`,
          data: { code: "upstream_unavailable" },
        },
      });
    }
    const page = await ask(port, { method: "GET", path: "/explorer/" });
    t.equal(page.status, 503);
    t.match(page.body, "does not answer");

    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    const [, response] = await once(socket, "unexpected-response");
    t.equal(response.statusCode, 503);
    socket.on("error", () => {});
    socket.terminate();

    await startTarget(t, { port: target.port });
    t.equal((await ask(port)).status, 200, "it is back");
    const told = logLines.filter((line) => /answers? again|does not answer/.test(line));
    t.match(told, [/does not answer/, /answers again/], "the log tells each change once");
    t.equal(told.length, 2);
    t.notMatch(logLines.join("\n"), key);
  },
);

t.test("a client that goes away takes its request to the gateway with it", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const gone = new Promise<void>((resolve) => {
    target.answerWith((response) => {
      response.once("close", resolve);
      client.destroy();
    });
  });
  const client = connect({ port, host: "127.0.0.1" });
  client.write(`POST / HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 2\r\n\r\n{}`);
  await gone;
  target.answerWith((response) => response.end("{}"));
  t.equal((await ask(port)).status, 200, "and the proxy goes on");
});

t.test("an answer may take longer than an idle connection is kept", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  // An idle connection is kept for 4 s.
  target.answerWith((response) => void setTimeout(() => response.end("late"), 5000));
  t.same((await ask(port)).body, "late");
});

t.test("clients that break their connection in the middle of a handshake end nothing", async (t) => {
  const target = await startTarget(t);
  const { port, logLines } = await startProxy(t, { gatewayUrl: target.url });
  for (const origin of ["https://evil.example", "http://localhost:3000"]) {
    for (let time = 0; time < 20; time += 1) {
      const socket = connect({ port, host: "127.0.0.1" });
      await once(socket, "connect");
      const lines = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        `Origin: ${origin}`,
        "Sec-WebSocket-Version: 13",
      ];
      const key = `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`;
      socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n${[...lines, key].join("\r\n")}\r\n\r\n`);
      // What was written is out before the reset.
      await new Promise(setImmediate);
      socket.resetAndDestroy();
    }
  }
  t.equal((await ask(port)).status, 200);
  t.notMatch(logLines.join(""), "does not answer", "and are nothing that the gateway did");
});

t.test("an Upgrade to something else than a WebSocket, or elsewhere", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const headers = { Connection: "Upgrade" };
  t.equal((await ask(port, { headers: { ...headers, Upgrade: "h2c" } })).status, 400);
  t.equal(
    (await ask(port, { method: "GET", path: "/explorer/", headers: { ...headers, Upgrade: "websocket" } }))
      .status,
    404,
  );
  t.same(target.requests, []);
});

t.test("stop closes WebSockets and idle connections, and frees the port", async (t) => {
  const target = await startTarget(t);
  const { port, stop } = await startProxy(t, { gatewayUrl: target.url });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  await once(socket, "open");
  const idle = connect({ port, host: "127.0.0.1" });
  await once(idle, "connect");
  const closed = once(socket, "close");
  const beganAt = performance.now();
  await stop();
  await closed;
  t.ok(performance.now() - beganAt < 5000);
  idle.destroy();
  const refused = connect({ port, host: "127.0.0.1" });
  t.match((await once(refused, "error"))[0], { code: "ECONNREFUSED" });
});
