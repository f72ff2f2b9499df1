import { availableParallelism } from "node:os";
import { CommandError } from "../../lib/cli/command.ts";
import { type Given, type Read, type ReadProgram, readProgram } from "../../lib/cli/read-program.ts";
import { wholeNumber } from "../../lib/cli/values.ts";
import { type ArrivalKind, arrivalKinds, type Stage } from "./drive/arrivals.ts";
import { clientsMax } from "./plan/plan.ts";
import { readDuration, readRamp, readRate, readShare } from "./read-values.ts";
import { atMost, type ThresholdRule } from "./thresholds/rule.ts";
import { loadProgram } from "./usage.ts";

export type LoadOptions = {
  url: URL;
  /** The key itself, or the file that holds it; else it is in the environment. */
  key: string | undefined;
  keyFile: string | undefined;
  /** Rates over time; or clients; or neither, where the load file has the stages. */
  stages: readonly Stage[] | undefined;
  clients: { count: number; durationMs: number } | undefined;
  /** Before the plan, at its first rate, not counted; 0 for none. */
  warmupMs: number;
  arrivals: ArrivalKind;
  /** As many as it takes where it is not given. */
  connections: number | undefined;
  timeoutMs: number;
  /** The default mix where it is not given. */
  mixFile: string | undefined;
  seed: number | undefined;
  thresholds: readonly ThresholdRule[];
  jsonFile: string | undefined;
  htmlFile: string | undefined;
  junitFile: string | undefined;
  /** How many run the plan together; 1 is this one alone. */
  processes: number;
  caFile: string | undefined;
  funderKeyFile: string | undefined;
};

const defaultUrl = "http://127.0.0.1:8540";
const defaultDurationMs = 60_000;
const connectionsMax = 10_000;
const processesMax = 64;
const seedMax = 0xffff_ffff;

/** Reads the command line; `unusable` says what was expected instead. */
export function readOptions(args: readonly string[]): ReadProgram<LoadOptions> {
  return readProgram(loadProgram, args, readAll);
}

function readAll(given: Given): LoadOptions {
  const { read, text } = given;
  if (given.has("key") && given.has("key-file")) {
    throw unusable("--key and --key-file were both given: one is enough.");
  }
  return {
    url: read("url", readUrl) ?? new URL(defaultUrl),
    key: text("key"),
    keyFile: text("key-file"),
    ...readPlanOptions(given),
    warmupMs: read("warmup", readWarmup) ?? 2_000,
    arrivals: read("arrivals", readArrivals) ?? "constant",
    connections: read("connections", wholeNumber(connectionsMax)),
    timeoutMs: read("timeout", readDuration) ?? 10_000,
    mixFile: text("mix"),
    seed: read("seed", wholeNumber(seedMax)),
    thresholds: readThresholds(given),
    jsonFile: text("json"),
    htmlFile: text("html"),
    junitFile: text("junit"),
    processes: read("processes", readProcesses) ?? 1,
    caFile: text("ca"),
    funderKeyFile: text("funder-key-file"),
  };
}

/** The stages of --ramp first, then --rate for --duration; or --clients for --duration. */
function readPlanOptions({ has, read }: Given): Pick<LoadOptions, "stages" | "clients"> {
  const ramp = read("ramp", readRamp);
  const rate = read("rate", readRate);
  const count = read("clients", wholeNumber(clientsMax));
  const durationMs = read("duration", readDuration) ?? defaultDurationMs;
  if (count !== undefined) {
    if (rate !== undefined || ramp !== undefined) {
      throw unusable("--clients goes with neither --rate nor --ramp: a run has clients or a rate.");
    }
    return { stages: undefined, clients: { count, durationMs } };
  }
  if (rate !== undefined) {
    const last = { fromPerSecond: rate, toPerSecond: rate, durationMs };
    return { stages: [...(ramp ?? []), last], clients: undefined };
  }
  if (has("duration")) {
    throw unusable("--duration needs --rate or --clients; the stages of --ramp have lengths of their own.");
  }
  return { stages: ramp, clients: undefined };
}

function readThresholds({ read }: Given): ThresholdRule[] {
  const rules: ThresholdRule[] = [];
  for (const percentile of [50, 90, 99]) {
    const limit = read(`max-p${percentile}`, readDuration);
    if (limit !== undefined) rules.push(atMost(`p${percentile}`, "latency", limit, percentile));
  }
  const share = read("max-error-rate", readShare);
  if (share !== undefined) rules.push(atMost("errorRate", "failed", share));
  return rules;
}

function readUrl(text: string): Read<URL> {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return { value: url };
  return { expected: `an address such as ${defaultUrl} or https://rpc.example.net` };
}

function readProcesses(text: string): Read<number> {
  if (text === "auto") return { value: Math.min(processesMax, availableParallelism()) };
  const read = wholeNumber(processesMax)(text);
  return "value" in read ? read : { expected: `a whole number from 1 to ${processesMax}, or auto,` };
}

function readWarmup(text: string): Read<number> {
  return text === "0" ? { value: 0 } : readDuration(text);
}

function readArrivals(text: string): Read<ArrivalKind> {
  const kind = arrivalKinds.find((candidate) => candidate === text);
  return kind === undefined ? { expected: arrivalKinds.join(" or ") } : { value: kind };
}

function unusable(text: string): CommandError {
  return new CommandError(text, { exitCode: 2 });
}
