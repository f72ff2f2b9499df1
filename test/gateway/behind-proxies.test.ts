import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import WebSocket from "ws";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { runChild } from "../../scripts/processes/run-child.ts";
import { startAnvil } from "../helpers/anvil.ts";
import { chainIdCall, post } from "../helpers/bad-input.ts";
import { writeCertificate } from "../helpers/certificate.ts";
import { coreKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { waitFor } from "../helpers/wait-for.ts";

/* What gateway/README.md says of nginx and HAProxy is taken from there and run. */

const readme = readFileSync(fileURLToPath(new URL("../../gateway/README.md", import.meta.url)), "utf8");
const badKeysMax = 3;

type Place = { folder: string; port: number; gatewayPort: number; opsPort: number };
type Proxy = { name: "nginx" | "haproxy"; saysToHttp10: RegExp; prepare(place: Place): string[] };

const proxies: Proxy[] = [
  {
    name: "nginx",
    saysToHttp10: /^HTTP\/1\.[01] 200 [\s\S]*"result":"0x228d"/,
    prepare({ folder, port, gatewayPort }) {
      const lines = fill(block("nginx"), [
        ["server 127.0.0.1:8540;", `server 127.0.0.1:${gatewayPort};`],
        ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
        ["/etc/tollgate/rpc.crt", join(folder, "tls.crt")],
        ["/etc/tollgate/rpc.key", join(folder, "tls.key")],
      ]);
      const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (name) => `${name}_temp_path ${folder}/${name};`,
      );
      const file = join(folder, "nginx.conf");
      const main = [`daemon off;`, `pid ${folder}/nginx.pid;`, `error_log ${folder}/error.log;`, "events {}"];
      const http = ["http {", "access_log off;", ...paths, lines, "}"];
      writeFileSync(file, [...main, ...http].join("\n"));
      return ["-p", folder, "-c", file, "-e", join(folder, "error.log")];
    },
  },
  {
    name: "haproxy",
    saysToHttp10: /^HTTP\/1\.[01] 505 [\s\S]*Ask with HTTP\/1\.1 or HTTP\/2$/,
    prepare({ folder, port, gatewayPort, opsPort }) {
      const lines = fill(block("haproxy"), [
        ["127.0.0.1:8540 check port 9540", `127.0.0.1:${gatewayPort} check inter 200ms port ${opsPort}`],
        ["bind :443", `bind 127.0.0.1:${port}`],
        ["/etc/tollgate/rpc.pem", join(folder, "rpc.pem")],
      ]);
      const pem = ["tls.crt", "tls.key"].map((name) => readFileSync(join(folder, name), "utf8"));
      writeFileSync(join(folder, "rpc.pem"), pem.join("\n"), { mode: 0o600 });
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, `global\n  maxconn 1000\n\n${lines}\n`);
      return ["-db", "-f", file];
    },
  },
];

for (const proxy of proxies) {
  t.test(`behind ${proxy.name}, as the README says`, async (t) => {
    const program = await findProgram({
      names: [proxy.name],
      path: `${process.env["PATH"] ?? ""}:/usr/sbin`,
    });
    if (program === undefined) {
      const missing = `${proxy.name} is not installed: apt-get install ${proxy.name}`;
      if (process.env["CI"] === "true") throw new Error(missing);
      t.plan(0, missing);
      return;
    }
    const { port, ca, anvilUrl } = await startBehind(t, { proxy, program });
    const from = (localAddress: string, more: Omit<Asked, "port" | "ca" | "localAddress">) =>
      ask({ port, ca, localAddress, ...more });

    t.test("calls and batches are answered, over one kept connection", async (t) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.teardown(() => agent.destroy());
      for (let id = 1; id <= 5; id += 1) {
        const { status, text } = await from("127.0.0.2", {
          body: { jsonrpc: "2.0", id, method: "eth_chainId" },
          agent,
        });
        t.equal(status, 200);
        t.equal(text, `{"jsonrpc":"2.0","id":${id},"result":"0x228d"}`);
      }
      const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_chainId" }));
      const { text } = await from("127.0.0.2", { body: calls, agent });
      t.match(JSON.parse(text), { length: 100 });
    });

    t.test("a body of a mebibyte passes, and the gateway itself refuses a longer one", async (t) => {
      const call = (chars: number) => ({
        jsonrpc: "2.0",
        id: 1,
        method: "web3_sha3",
        params: [`0x${"a".repeat(chars)}`],
      });
      t.match(await from("127.0.0.2", { body: call(1_000_000) }), { status: 200, text: /"result":"0x/ });
      t.match(await from("127.0.0.2", { body: call(1_100_000) }), { status: 413, text: /body_too_large/ });
    });

    t.test("HTTP/2 is spoken to clients, also without a length of the body", async (t) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
      t.teardown(() => session.destroy());
      for (const length of [{ "content-length": String(chainIdCall.length) }, {}]) {
        const stream = session.request({
          ":method": "POST",
          ":path": "/",
          "content-type": "application/json",
          "x-api-key": coreKey,
          ...length,
        });
        stream.end(chainIdCall);
        let text = "";
        for await (const piece of stream.setEncoding("utf8")) text += piece;
        t.equal(text, '{"jsonrpc":"2.0","id":7,"result":"0x228d"}');
      }
    });

    t.test("HTTP/1.0 is served, or told what to ask with", async (t) => {
      const old = post(chainIdCall).replace("HTTP/1.1", "HTTP/1.0");
      t.match(await converse(t, { port, ca, sent: old }), proxy.saysToHttp10);
    });

    t.test("a WebSocket is told of new blocks", async (t) => {
      const socket = new WebSocket(`wss://127.0.0.1:${port}/`, ["tollgate.v1", `api-key.${coreKey}`], { ca });
      t.teardown(() => socket.terminate());
      await once(socket, "open");
      t.equal(socket.protocol, "tollgate.v1");
      const messages: string[] = [];
      const arrived = (pattern: RegExp) =>
        new Promise<string>((resolve) => {
          const look = () => {
            const found = messages.find((message) => pattern.test(message));
            if (found !== undefined) resolve(found);
          };
          socket.on("message", look);
          look();
        });
      socket.on("message", (data) => messages.push(String(data)));
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
      t.match(await arrived(/"id":1/), /"result":"0x/);
      const mined = { jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] };
      const headers = { "Content-Type": "application/json" };
      await (await fetch(anvilUrl, { method: "POST", headers, body: JSON.stringify(mined) })).text();
      t.match(await arrived(/eth_subscription/), /"number":"0x/);
      socket.close();
      await once(socket, "close");
    });

    t.test("clients are told apart by their own addresses, whatever they write themselves", async (t) => {
      const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId" };
      const badly = (address: string, forwardedFor?: string) =>
        from(address, {
          body,
          key: "an-unknown-key-of-somebody",
          ...(forwardedFor === undefined ? {} : { headers: { "X-Forwarded-For": forwardedFor } }),
        });
      for (let count = 0; count < badKeysMax; count += 1) t.match(await badly("127.0.0.3"), { status: 401 });
      t.match(await badly("127.0.0.3"), { status: 429 }, "this address has tried enough");
      t.match(await badly("127.0.0.3", "192.0.2.1"), { status: 429 }, "inventing another does not help");
      t.match(await badly("127.0.0.4"), { status: 401 }, "another's is another's");
    });

    t.test("what is no HTTP is answered at once, and not by the gateway's library", async (t) => {
      const heads = ["GET / HTTP/1.1\r\nHo st: a\r\n\r\n", "nonsense\r\n\r\n"];
      for (const head of heads) {
        const text = await converse(t, { port, ca, sent: head });
        t.match(text, /^HTTP\/1\.[01] 400 |^<html>[\s\S]*400/);
        t.notMatch(text, /uWebSockets/);
      }
    });
  });
}

async function startBehind(t: Test, { proxy, program }: { proxy: Proxy; program: string }) {
  const folder = testFolder(t);
  const [redis, anvil, { certificate }] = await Promise.all([
    startRedis(t),
    startAnvil(t),
    writeCertificate(folder),
  ]);
  const gateway = await startGateway(t, {
    redisUrl: redis.url,
    upstreams: [anvil.url],
    change: (config) => ({
      ...config,
      trustedProxies: ["127.0.0.1"],
      limits: { ...config.limits, requestsPerMinute: badKeysMax },
    }),
  });
  const port = await reservePort();
  const args = proxy.prepare({ folder, port, gatewayPort: gateway.port, opsPort: gateway.opsPort });
  const lines: string[] = [];
  const child = await runChild({
    name: proxy.name,
    program,
    args,
    env: process.env,
    onLine: (line) => lines.push(line),
  });
  if ("failed" in child) throw new Error(child.failed);
  t.teardown(() => child.stop({ withinMs: 5000 }));
  await waitFor(`${program} listens`, async () => {
    if (!child.running()) throw new Error(await child.obituary());
    return isListening(port);
  });
  return { port, ca: certificate, anvilUrl: anvil.url };
}

/** The lines of the README's block of that kind. */
function block(kind: string): string {
  const [, lines] = new RegExp(`^\`\`\`${kind}\n([^]*?)^\`\`\`$`, "m").exec(readme) ?? [];
  if (lines === undefined) throw new Error(`gateway/README.md has no block of ${kind}`);
  return lines;
}

/** Puts this machine's places into it; each stands there once. */
function fill(lines: string, places: readonly (readonly [shown: string, real: string])[]): string {
  return places.reduce((filled, [shown, real]) => {
    if (filled.split(shown).length !== 2) throw new Error(`"${shown}" does not stand in it once`);
    return filled.replace(shown, real);
  }, lines);
}

async function isListening(port: number): Promise<boolean> {
  const socket = connectTcp({ port, host: "127.0.0.1" });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}

/** Everything that comes until the other side closes. */
async function converse(t: Test, { port, ca, sent }: { port: number; ca: string; sent: string }) {
  const socket = connect({ port, host: "127.0.0.1", ca });
  t.teardown(() => socket.destroy());
  await once(socket, "secureConnect");
  socket.write(sent);
  let text = "";
  for await (const piece of socket.setEncoding("latin1")) text += piece;
  return text;
}

type Asked = {
  port: number;
  ca: string;
  /** Where the client's connection comes from. */
  localAddress: string;
  body: object;
  key?: string;
  headers?: Record<string, string>;
  agent?: Agent;
};

function ask({ port, ca, localAddress, body, key = coreKey, headers = {}, agent }: Asked) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request(
      {
        port,
        host: "127.0.0.1",
        ca,
        localAddress,
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": key, ...headers },
        ...(agent === undefined ? {} : { agent }),
      },
      async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode, text });
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
