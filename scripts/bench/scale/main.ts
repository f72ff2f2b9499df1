import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { z } from "zod";
import type { SingleProgram } from "../../../lib/cli/command.ts";
import { readProgram } from "../../../lib/cli/read-program.ts";
import { measureKeyCache } from "./measure-key-cache.ts";
import { measureRedis } from "./measure-redis.ts";
import { type Measured, readMeasured, writeMeasured } from "./measured.ts";
import { assumedTable, breaksTable, measuredTable, planTable, simulationTable } from "./tables.ts";

const program: SingleProgram = {
  invocation: "npm run bench -- scale",
  summary:
    "What keys and limits cost Redis, with a million keys in it, and what docs/scale.md reckons from it.",
  options: {
    keys: { value: "N", text: "keys that are put into Redis", default: "1000000" },
    gateway: {
      value: "FILE",
      text: "the result of npm run bench -- gateway --only ours --work unique,mix --json FILE",
    },
    websocket: { value: "FILE", text: "what npm run bench -- websocket printed" },
    keep: { text: "measures nothing of Redis: prints the tables of the figures that there are" },
    write: { text: "keeps the figures for npm run docs, which writes them into docs/scale.md" },
  },
  details: [
    "Takes about two minutes and 1 GB of memory. What no file brings stays as it was measured last.",
    "All of it anew, on a quiet machine:",
    "  npm run bench -- gateway --only ours --work unique,mix --rounds 5 --json gateway.json",
    "  npm run bench -- websocket > websocket.txt",
    "  npm run bench -- scale --gateway gateway.json --websocket websocket.txt --write && npm run docs",
  ],
};

const benchResult = z.object({
  works: z.array(
    z.object({
      work: z.string(),
      contestant: z.string(),
      requestsPerCpuSecond: z.object({ median: z.number() }),
    }),
  ),
});

export async function main(args: readonly string[]): Promise<void> {
  const read = readProgram(program, args, ({ has, text, needText }) => ({
    ...{ keys: Number(needText("keys")), gateway: text("gateway"), webSocket: text("websocket") },
    ...{ isKept: has("keep"), isWritten: has("write") },
  }));
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable" || !(Number.isInteger(read.options.keys) && read.options.keys >= 1000)) {
    process.stderr.write(
      read.kind === "unusable" ? read.text : "--keys takes a whole number from 1000 on.\n",
    );
    process.exitCode = 2;
    return;
  }
  const { keys, gateway, webSocket, isKept, isWritten } = read.options;
  const before = readMeasured();
  const measured: Measured = {
    ...before,
    ...(isKept ? {} : { ...(await measureAlone(keys)), at: today(), machine: machine() }),
    ...(gateway === undefined ? {} : { gateway: readGateway(gateway) }),
    ...(webSocket === undefined ? {} : { webSocket: readWebSocket(webSocket) }),
  };
  for (const table of [measuredTable, planTable, breaksTable, simulationTable])
    console.log(`\n${table(measured)}`);
  console.log(`\n${assumedTable()}`);
  if (isWritten) writeMeasured(measured);
}

async function measureAlone(keys: number) {
  const stops: (() => unknown)[] = [];
  try {
    const say = (text: string) => console.error(text);
    const keyCacheBytes = measureKeyCache();
    const t = { teardown: (stop: () => unknown) => void stops.unshift(stop) };
    return { keyCacheBytes, ...(await measureRedis(t, { keys, say })) };
  } finally {
    for (const stop of stops) await stop();
  }
}

function readGateway(file: string): Measured["gateway"] {
  const { works } = benchResult.parse(JSON.parse(readFileSync(file, "utf8")));
  const of = (name: string) => {
    const found = works.find(({ work, contestant }) => work === name && contestant === "ours");
    if (found === undefined) throw new Error(`${file}: there is no work ${name} of ours in it`);
    return Math.round(found.requestsPerCpuSecond.median);
  };
  return { loneCalls: of("unique"), mixedCalls: of("mix") };
}

function readWebSocket(file: string): Measured["webSocket"] {
  const text = readFileSync(file, "utf8");
  const idle = /idle sockets: (\d+) bytes each/.exec(text)?.[1];
  const told = /([\d.]+) µs of CPU a notification/.exec(text)?.[1];
  if (idle === undefined || told === undefined)
    throw new Error(`${file}: npm run bench -- websocket printed no such text`);
  return { idleSocketBytes: Number(idle), notificationMicros: Number(told) };
}

const today = () => new Date().toISOString().slice(0, 10);

function machine(): string {
  const [one] = cpus();
  return `${cpus().length} × ${one?.model.trim() ?? "unknown"}, load ${loadavg()[0]?.toFixed(1)}`;
}
