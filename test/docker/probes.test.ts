import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { reservePort } from "../../scripts/processes/reserved-port.ts";
import { runCommand } from "../helpers/run-command.ts";
import { testFolder } from "../helpers/test-folder.ts";

const probe = (name: string) => fileURLToPath(new URL(`../../docker/probes/${name}`, import.meta.url));

/** A server on loopback that answers every request with what `answer` says at that moment. */
async function serve(t: Test, answer: () => { status?: number; body: string }): Promise<number> {
  const server = createServer((_request, response) => {
    const { status = 200, body } = answer();
    response.writeHead(status, { "Content-Type": "application/json" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address: string | AddressInfo | null = server.address();
  if (address === null || typeof address === "string") throw new Error("it has no port");
  return address.port;
}

t.test("a validator is healthy while its height moves", async (t) => {
  let body = "";
  const port = await serve(t, () => ({ body }));
  const folder = testFolder(t, {});
  const look = (at = port) =>
    runCommand(t, {
      program: "bash",
      args: [probe("height-moves.sh")],
      env: { ...process.env, TMPDIR: folder, RPC_PORT: String(at), MOVED_WITHIN_SECONDS: "1" },
    });
  const height = (number: number) => {
    body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: `0x${number.toString(16)}` });
  };
  height(41);
  t.match(await look(), { code: 1, lines: [/^block 41: it has not moved/] }, "the first look proves nothing");
  height(42);
  t.same(await look(), { code: 0, lines: ["block 42"] });
  t.same(await look(), { code: 0, lines: ["block 42"] }, "a moment without a block is no stall");
  // The probe counts whole seconds, and says so after two.
  await sleep(2100);
  t.match(await look(), { code: 1, lines: [/^block 42: it has not moved for 1 s/] });
  height(43);
  t.same(await look(), { code: 0, lines: ["block 43"] });
  body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000}}';
  t.match(await look(), { code: 1, lines: [/^no height in the answer/] });
  t.equal((await look(await reservePort())).code, 1, "nobody listens");
});

t.test("a process of ours is healthy while its ops server says that it serves", async (t) => {
  let status = 200;
  const port = await serve(t, () => ({ status, body: '{"ready":true}' }));
  const look = (at: number) =>
    runCommand(t, { program: process.execPath, args: [probe("ready.js"), String(at)] });
  t.same(await look(port), { code: 0, lines: ['{"ready":true}'] });
  status = 503;
  t.match(await look(port), { code: 1 });
  t.match(await look(await reservePort()), { code: 1 });
});
