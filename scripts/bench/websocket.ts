import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startValidators } from "../../test/fakes/validators/start-validators.ts";
import { startOwnRedis } from "../processes/own-redis.ts";

/*
 * What WebSockets cost, with a gateway in a process of its own:
 *
 *   npm run bench -- websocket
 *
 * - the gateway's memory for an idle socket, over 10 000 of them;
 * - 2 000 subscribers of newHeads: from the block to the first and the last notification, and the processor's time;
 * - calls a second over WebSocket against HTTP, with the same number of calls in flight.
 *
 * Ends with an error where a socket is refused, or an answer or a notification is missing. Load and validator share a
 * process, so times of notifications include reading them. Takes about a minute.
 */

const idleSockets = 10_000;
const subscribers = 2000;
const blocks = 10;
const callMs = 4000;
const inFlight = 64;
const answerWithinMs = 10_000;
const call = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}';
const key = "a-key-for-this-benchmark-only";
const root = fileURLToPath(new URL("../..", import.meta.url));
const stops: (() => unknown)[] = [];
const t = { teardown: (stop: () => unknown) => void stops.unshift(stop) };

try {
  await run();
} finally {
  for (const stop of stops) await stop();
}

async function run(): Promise<void> {
  const [redis, validators] = await Promise.all([startOwnRedis(t), startValidators(t, { count: 1 })]);
  await validators.mine(2);
  const gateway = await startGateway({ redisUrl: redis.url, upstream: validators.urls[0] ?? "" });
  // The first sockets also pay for memory that all sockets share.
  await openSockets(gateway.port, 200);
  await sleep(1000);

  const before = await gateway.usage();
  const idle = await openSockets(gateway.port, idleSockets);
  await sleep(2000);
  const after = await gateway.usage();
  const bytes = Math.round((after.memoryBytes - before.memoryBytes) / idleSockets);
  console.log(`${idleSockets} idle sockets: ${bytes} bytes each`);
  for (const socket of idle) socket.destroy();
  await sleep(1000);

  await tellHeads(gateway, () => validators.mine(1));

  console.log(`\neth_blockNumber, ${inFlight} in flight       calls/s   gateway's CPU a call`);
  const http = Buffer.from(
    `POST / HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${call.length}\r\n\r\n${call}`,
  );
  const frame = textFrame(call);
  for (const [name, open, connections, message] of [
    ["HTTP, 64 connections", connectAll, inFlight, http],
    ["WebSocket, 64 connections", openSockets, inFlight, frame],
    ["WebSocket, 4 connections", openSockets, 4, frame],
  ] as const) {
    const sockets = await open(gateway.port, connections);
    const start = await gateway.usage();
    const calls = await drive(sockets, { message, each: inFlight / connections });
    const cpuSeconds = (await gateway.usage()).cpuSeconds - start.cpuSeconds;
    const perSecond = Math.round(calls / (callMs / 1000));
    console.log(
      `${name.padEnd(40)}${String(perSecond).padStart(8)}   ${((cpuSeconds / calls) * 1e6).toFixed(1)} µs`,
    );
    for (const socket of sockets) socket.destroy();
  }
}

type Usage = { memoryBytes: number; cpuSeconds: number };
type Gateway = { port: number; usage(): Promise<Usage> };

/** The gateway, with limits of connections and calls that are never reached. */
async function startGateway({
  redisUrl,
  upstream,
}: {
  redisUrl: string;
  upstream: string;
}): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "gateway.yaml");
  await writeFile(
    file,
    [
      ...["port: 0", "ops: { port: 0 }", `redis: ${redisUrl}`, `upstreams: ${upstream}`],
      `methodsFile: ${join(root, "config/methods.yaml")}`,
      "webSocket: { connectionsPerKeyMax: 100000, framesPerSecondMax: 1000000 }",
      "connections: { max: 30000, perAddressMax: 30000 }",
      `keys: [{ label: bench, team: bench, value: ${key}, permissions: [rpc], limitPerMinute: 1000000000 }]`,
    ].join("\n"),
  );
  const args = [...process.execArgv, join(root, "gateway/main.ts"), "--config", file];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  for await (const line of createInterface(child.stdout)) {
    if (!line.includes('"gateway is up"')) continue;
    child.stdout.resume();
    const { port, opsPort }: { port: number; opsPort: number } = JSON.parse(line);
    return { port, usage: () => readUsage(opsPort) };
  }
  throw new Error("the gateway did not start");
}

async function readUsage(opsPort: number): Promise<Usage> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  return {
    memoryBytes: value("process_resident_memory_bytes"),
    cpuSeconds: value("process_cpu_seconds_total"),
  };
}

async function connectAll(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  // Few at a time: more would wait in the kernel's queue and be dropped there.
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, async () => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    });
    sockets.push(...(await Promise.all(some)));
  }
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

async function openSockets(port: number, count: number): Promise<Socket[]> {
  const sockets = await connectAll(port, count);
  const upgrade =
    `GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-API-Key: ${key}\r\n` +
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  await Promise.all(sockets.map((socket) => ask(socket, upgrade, "HTTP/1.1 101")));
  return sockets;
}

/** A message of less than 126 bytes as a client sends it, masked (RFC 6455 section 5.2). */
function textFrame(text: string): Buffer {
  const mask = [0x11, 0x22, 0x33, 0x44];
  const masked = Buffer.from(text).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  if (masked.length >= 126) throw new Error("the message is too long for this frame");
  return Buffer.from([0x81, 0x80 | masked.length, ...mask, ...masked]);
}

/** Sends a message. @throws Error where the answer does not contain `expected`. */
async function ask(socket: Socket, message: string | Buffer, expected: string): Promise<void> {
  socket.write(message);
  // An upgrade's answer comes in several pieces.
  for (let text = ""; !text.includes(expected); ) {
    const [chunk]: Buffer[] = await once(socket, "data", { signal: AbortSignal.timeout(answerWithinMs) });
    text += chunk?.toString("latin1");
    if (text.startsWith("HTTP/1.1 ") && text.includes("\r\n\r\n") && !text.includes(expected))
      throw new Error(`not "${expected}" but: ${text}`);
  }
}

async function tellHeads(gateway: Gateway, mine: () => Promise<unknown>): Promise<void> {
  const sockets = await openSockets(gateway.port, subscribers);
  const subscribe = textFrame('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  await Promise.all(sockets.map((socket) => ask(socket, subscribe, '"result":"0x')));
  let told = 0;
  const times: number[] = [];
  for (const socket of sockets) {
    socket.on("data", (chunk: Buffer) => {
      // One notification is one piece: no block here is large enough to be cut.
      if (!chunk.includes('"eth_subscription"')) return;
      told += 1;
      times.push(performance.now());
    });
  }
  const firsts: number[] = [];
  const lasts: number[] = [];
  const start = await gateway.usage();
  for (let block = 1; block <= blocks; block += 1) {
    times.length = 0;
    const minedAtMs = performance.now();
    await mine();
    const endsAtMs = minedAtMs + 5000;
    while (told < block * subscribers && performance.now() < endsAtMs) await sleep(1);
    if (told !== block * subscribers) throw new Error(`${told} of ${block * subscribers} notifications came`);
    firsts.push((times[0] ?? 0) - minedAtMs);
    lasts.push((times.at(-1) ?? 0) - minedAtMs);
    await sleep(300);
  }
  const cpuSeconds = (await gateway.usage()).cpuSeconds - start.cpuSeconds;
  const median = (list: number[]) =>
    (list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0).toFixed(0);
  console.log(
    `${subscribers} subscribers of newHeads: first told ${median(firsts)} ms after the block began to be made, ` +
      `last ${median(lasts)} ms; ${((cpuSeconds / blocks / subscribers) * 1e6).toFixed(1)} µs of CPU a notification`,
  );
  for (const socket of sockets) socket.destroy();
}

/** Keeps `each` calls in flight on each socket. @returns the number of answers within `callMs`. */
async function drive(
  sockets: readonly Socket[],
  { message, each }: { message: Buffer; each: number },
): Promise<number> {
  let calls = 0;
  let isOver = false;
  for (const socket of sockets) {
    let rest = "";
    socket.on("data", (chunk: Buffer) => {
      const pieces = (rest + chunk.toString("latin1")).split('"result":"0x');
      rest = pieces.at(-1) ?? "";
      const answers = pieces.length - 1;
      calls += answers;
      if (!isOver && answers > 0) socket.write(Buffer.concat(Array(answers).fill(message)));
    });
    socket.write(Buffer.concat(Array(each).fill(message)));
  }
  await sleep(callMs);
  isOver = true;
  const answered = calls;
  await sleep(200);
  if (answered === 0) throw new Error("nothing was answered");
  return answered;
}
