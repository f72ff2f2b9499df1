import t from "tap";
import { WebSocket } from "ws";
import { ask, startProxy, startTarget } from "./rig.ts";

const site = "https://dapp.example";

t.test("Host: only loopback with the proxy's own port, so that no domain can be rebound to it", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  for (const name of ["127.0.0.1", "localhost", "LocalHost", "[::1]"]) {
    t.equal((await ask(port, { headers: { Host: `${name}:${port}` } })).status, 200, name);
  }
  const foreign = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.1:${port + 1}`,
    `localhost.evil.example:${port}`,
    `localhost:${port}.evil.example`,
    `0.0.0.0:${port}`,
  ];
  for (const host of foreign) {
    for (const [method, path] of [
      ["POST", "/"],
      ["GET", "/"],
      ["GET", "/network.json"],
      ["GET", "/explorer/"],
      ["OPTIONS", "/"],
    ] as const) {
      const { status, body, headers } = await ask(port, { method, path, headers: { Host: host } });
      t.equal(status, 403, `${method} ${path} of ${host}`);
      t.match(body, "The Host is not this server's");
      t.notOk(headers["access-control-allow-origin"]);
    }
  }
  t.equal(target.requests.length, 4, "nothing of it reached the gateway");
});

t.test("Origin: none, loopback, extensions and named sites", async (t) => {
  const target = await startTarget(t);
  const { port, logLines } = await startProxy(t, { gatewayUrl: target.url, sites: [site] });
  const welcome = [
    undefined,
    "http://localhost:3000",
    "https://localhost",
    "http://app.localhost:5173",
    "http://127.0.0.1:8080",
    "http://127.9.9.9",
    "http://[::1]:3000",
    "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn",
    "moz-extension://2b2f1a4e-6f1d-4b3c-9d55-0c2d7a3e9f10",
    "safari-web-extension://0F3C1F7E-52C4-4C8B-9F5C-1E2D3C4B5A69",
    site,
  ];
  for (const origin of welcome) {
    const { status, headers } = await ask(port, { headers: origin === undefined ? {} : { Origin: origin } });
    t.equal(status, 200, origin ?? "none");
    t.equal(headers["access-control-allow-origin"], origin);
  }
  const arrived = target.requests.length;
  const strangers = [
    "null",
    "https://evil.example",
    "http://dapp.example",
    "https://dapp.example:8443",
    "https://dapp.example.evil.example",
    "https://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost@evil.example",
    "file://",
    "chrome-extension://",
    "https://chrome-extension.example",
  ];
  for (const origin of strangers) {
    for (const method of ["POST", "GET", "OPTIONS"]) {
      const { status, headers, body } = await ask(port, { method, headers: { Origin: origin } });
      t.equal(status, 403, `${method} from ${origin}`);
      t.notOk(headers["access-control-allow-origin"], "no page may read it");
      t.match(JSON.parse(body), { id: null, error: { code: -32091, data: { code: "forbidden" } } });
    }
  }
  t.equal(target.requests.length, arrived, "nothing of it reached the gateway");
  const told = logLines.filter((line) => line.includes("https://evil.example"));
  t.equal(told.length, 1, "the log names a refused origin, once");
});

t.test("WebSocket: the same rules", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url, sites: [site] });
  const open = (headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers });
      socket.once("open", () => resolve("open"));
      socket.once("unexpected-response", (_request, response) => resolve(String(response.statusCode)));
      socket.on("error", () => {});
      t.teardown(() => socket.terminate());
    });
  t.equal(await open({}), "open");
  t.equal(await open({ Origin: site }), "open");
  t.equal(await open({ Origin: "http://localhost:3000" }), "open");
  t.equal(target.requests.length, 3);
  t.equal(await open({ Origin: "https://evil.example" }), "403");
  t.equal(await open({ Origin: "null" }), "403");
  t.equal(await open({ Host: `evil.example:${port}` }), "403");
  t.equal(target.requests.length, 3, "nothing of it reached the gateway");
});

t.test("what another site embeds is refused, a link from it is followed", async (t) => {
  const target = await startTarget(t);
  const { port } = await startProxy(t, { gatewayUrl: target.url });
  const get = (path: string, site: string, mode: string, dest: string) =>
    ask(port, {
      method: "GET",
      path,
      headers: { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest },
    });
  for (const path of ["/", "/explorer/", "/network.json"]) {
    t.equal((await get(path, "cross-site", "no-cors", "image")).status, 403, `${path} as an image`);
    t.equal((await get(path, "cross-site", "navigate", "iframe")).status, 403, `${path} in a frame`);
    t.equal((await get(path, "cross-site", "navigate", "document")).status, 200, `${path} by a link`);
    t.equal((await get(path, "same-origin", "cors", "empty")).status, 200, `${path} from its own page`);
    t.equal((await get(path, "none", "navigate", "document")).status, 200, `${path} typed in`);
  }
});
