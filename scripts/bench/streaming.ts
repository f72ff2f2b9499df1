import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { readGatewayConfig } from "../../gateway/config.ts";
import { start } from "../../gateway/start.ts";
import { startStubValidator } from "../../test/fakes/stub-validator.ts";
import { startOwnRedis } from "../processes/own-redis.ts";

/*
 * What a long answer costs: a trace of 20 MB, and then one of 200 MB, read slowly by one client while others make small
 * calls.
 *
 *   npm run bench -- streaming
 *
 * Prints the process's memory (gateway, stub and load are one process, so it is an upper bound), and how long small calls
 * took beside it. Ends with an error where the answer is not what the validator wrote.
 */

const megabyte = 1024 * 1024;
const pauseMs = 25;
const piece = Buffer.alloc(64 * 1024, "ab");
const stops: (() => unknown)[] = [];
const t = { teardown: (stop: () => unknown) => void stops.unshift(stop) };

try {
  await run();
} finally {
  for (const stop of stops) await stop();
}

async function run(): Promise<void> {
  const redis = await startOwnRedis(t);
  let answerBytes = 0;
  const validator = await startStubValidator(t, {
    async answer(body, response) {
      const { id, method }: { id: number; method: string } = JSON.parse(body);
      if (method !== "debug_traceTransaction") return `{"jsonrpc":"2.0","id":${id},"result":"0x1"}`;
      response.writeHead(200).write(`{"jsonrpc":"2.0","id":${id},"result":"`);
      for (let bytes = 0; bytes < answerBytes; bytes += piece.length) {
        if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
      }
      response.end('"}');
      return undefined;
    },
  });
  const env = { REDIS_URL: redis.url, UPSTREAMS: validator.url, GATEWAY_PORT: "0", GATEWAY_OPS_PORT: "0" };
  const config = readGatewayConfig({ file: "config/gateway.yaml", env });
  const gateway = await start(config, { logger: pino({ level: "silent" }) });
  t.teardown(() => gateway.stop());
  const key = config.keys[1]?.value ?? "";

  console.log("answer      read in    memory before   highest   small calls beside it: p50      p99");
  for (const megabytes of [20, 200]) {
    answerBytes = megabytes * megabyte;
    const before = process.memoryUsage.rss();
    let highest = before;
    const watching = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage.rss());
    }, 20);
    const started = performance.now();
    const reading = readSlowly(gateway.address.port, key, answerBytes);
    const delays = await callWhile(reading, gateway.address.port, key);
    const seconds = (performance.now() - started) / 1000;
    clearInterval(watching);
    delays.sort((a, b) => a - b);
    const at = (share: number) => `${(delays[Math.floor(delays.length * share)] ?? 0).toFixed(1)} ms`;
    console.log(
      `${`${megabytes} MB`.padEnd(12)}${`${seconds.toFixed(1)} s`.padEnd(11)}${inMb(before).padEnd(16)}${inMb(highest).padEnd(32)}${at(0.5).padEnd(9)}${at(0.99)}`,
    );
  }
}

/** A client that pauses after each megabyte. Resolves with the whole answer. @throws Error where a part is missing. */
function readSlowly(port: number, key: string, expectedBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "debug_traceTransaction", params: ["0x1"] });
    const socket = connect(port, "127.0.0.1");
    let bytes = 0;
    let pausesAt = megabyte;
    let tail = "";
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      tail = (tail + chunk.toString("latin1")).slice(-32);
      if (bytes > pausesAt) {
        pausesAt += megabyte;
        socket.pause();
        setTimeout(() => socket.resume(), pauseMs);
      }
      if (!tail.includes("0\r\n\r\n")) return;
      socket.destroy();
      if (bytes >= expectedBytes && tail.includes('"}')) resolve();
      else reject(new Error(`${bytes} bytes came, not ${expectedBytes}`));
    });
    socket.on("error", reject);
    socket.write(
      `POST / HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

/** Makes small calls, one after the other, until `done`. @returns how long each took, in milliseconds. */
async function callWhile(done: Promise<void>, port: number, key: string): Promise<number[]> {
  const delays: number[] = [];
  let isDone = false;
  const ending = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}',
    });
    if ((await response.text()) !== '{"jsonrpc":"2.0","id":1,"result":"0x1"}')
      throw new Error("a wrong answer");
    delays.push(performance.now() - started);
    await sleep(5);
  }
  await ending;
  return delays;
}

function inMb(bytes: number): string {
  return `${Math.round(bytes / megabyte)} MB`;
}
