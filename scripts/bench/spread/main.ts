import { fileURLToPath } from "node:url";
import type { SingleProgram } from "../../../lib/cli/command.ts";
import { type Read, readProgram } from "../../../lib/cli/read-program.ts";
import { wholeNumber } from "../../../lib/cli/values.ts";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../../lib/service/stop-signals.ts";
import { freePort } from "../../processes/free-port.ts";
import { runChild } from "../../processes/run-child.ts";
import { columns } from "../gateway/figures.ts";
import { kindTexts, type SpreadKind, spreadKinds } from "./kinds.ts";
import { openConnections, paces } from "./open-connections.ts";
import { summarizeSpread } from "./summarize-spread.ts";

const stopWithinMs = 3000;

const program: SingleProgram = {
  invocation: "npm run bench -- spread",
  summary:
    "How evenly the connections of one port come to several processes, by the way in which they get them.",
  options: {
    workers: { value: "N,N…", text: "how many processes", default: "2,4" },
    connections: {
      value: "N,N…",
      text: "how many connections, all open at a time",
      default: "8,40,120,1000",
    },
    runs: { value: "N", text: "how often each is measured", default: "10" },
  },
  details: ["Of an even share: 1.00 is as many connections as each should have."],
};

type Options = { workers: readonly number[]; connections: readonly number[]; runs: number };

/** `npm run bench -- spread`: arguments, signals, exit code. */
export async function main(args: readonly string[]): Promise<void> {
  const read = readProgram(program, args, ({ need }) => ({
    workers: need("workers", wholeNumbers(64)),
    connections: need("connections", wholeNumbers(10_000)),
    runs: need("runs", wholeNumber(1000)),
  }));
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  const interrupted = abortOnStopSignal();
  try {
    await measureAll(read.options, interrupted);
  } catch (error) {
    // Connections break where their server is stopped.
    if (!interrupted.aborted) throw error;
  }
  if (interrupted.aborted) process.exitCode = exitCodes.interrupted;
}

async function measureAll(options: Options, interrupted: AbortSignal): Promise<void> {
  for (const workers of options.workers) {
    const lines: string[][] = [];
    for (const kind of spreadKinds) {
      lines.push(...(await measureKind({ kind, workers, options, interrupted })));
      interrupted.throwIfAborted();
    }
    const head = ["", "connections", "opened", "least", "most", "deviation", "worst run"];
    process.stdout.write(`\n${workers} workers:\n${columns([head, ...lines]).join("\n")}\n`);
  }
  const kinds = spreadKinds.map((kind) => `${kind}: ${kindTexts[kind]}`);
  process.stdout.write(`\n${options.runs} runs each. ${program.details?.join(" ")}\n${kinds.join("\n")}\n`);
}

async function measureKind({
  kind,
  workers,
  options: { connections, runs },
  interrupted,
}: {
  kind: SpreadKind;
  workers: number;
  options: Options;
  interrupted: AbortSignal;
}): Promise<string[][]> {
  const port = await freePort();
  const script = fileURLToPath(new URL("server.ts", import.meta.url));
  const up = Promise.withResolvers<void>();
  const child = await runChild({
    name: kind,
    program: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", script, kind, String(workers), String(port)],
    env: process.env,
    onLine: (line) => line === "listening" && up.resolve(),
  });
  if ("failed" in child) throw new Error(child.failed);
  const stop = () => void child.stop({ withinMs: stopWithinMs });
  interrupted.addEventListener("abort", stop);
  try {
    const failed = child.ended.then(async () => Promise.reject(new Error(await child.obituary())));
    await Promise.race([up.promise, failed]);
    failed.catch(() => {});
    const lines: string[][] = [];
    for (const count of connections) {
      for (const pace of paces) {
        const counts: number[][] = [];
        for (let run = 0; run < runs; run += 1) {
          interrupted.throwIfAborted();
          counts.push(await openConnections({ port, count, pace, workers }));
        }
        const { least, most, deviation, leastEver, mostEver } = summarizeSpread(counts);
        const figures = [least, most, deviation].map((part) => part.toFixed(2));
        const worst = `${leastEver.toFixed(2)}–${mostEver.toFixed(2)}`;
        lines.push([kind, String(count), pace, ...figures, worst]);
      }
    }
    return lines;
  } finally {
    interrupted.removeEventListener("abort", stop);
    await child.stop({ withinMs: stopWithinMs });
  }
}

/** Numbers with commas. */
function wholeNumbers(max: number): (text: string) => Read<number[]> {
  return (text) => {
    const values = text.split(",").flatMap((part) => {
      const read = wholeNumber(max)(part);
      return "value" in read ? [read.value] : [];
    });
    return values.length === text.split(",").length
      ? { value: values }
      : { expected: `whole numbers from 1 to ${max} with commas` };
  };
}
