import { CommandError } from "../../lib/cli/command.ts";
import { type Given, type Read, type ReadProgram, readProgram } from "../../lib/cli/read-program.ts";
import { wholeNumber } from "../../lib/cli/values.ts";
import { type ArrivalKind, arrivalKinds, type Stage } from "./drive/arrivals.ts";
import { readDuration, readRamp, readRate, readShare } from "./read-values.ts";
import type { ThresholdLimits } from "./report/thresholds.ts";
import { loadProgram } from "./usage.ts";

export type LoadOptions = {
  url: URL;
  /** The key itself, or the file that holds it; else it is in the environment. */
  key: string | undefined;
  keyFile: string | undefined;
  stages: readonly Stage[];
  /** Before the plan, at its first rate, not counted; 0 for none. */
  warmupMs: number;
  arrivals: ArrivalKind;
  connections: number;
  timeoutMs: number;
  /** The default mix where it is not given. */
  mixFile: string | undefined;
  seed: number | undefined;
  limits: ThresholdLimits;
  jsonFile: string | undefined;
  htmlFile: string | undefined;
  caFile: string | undefined;
  funderKeyFile: string | undefined;
};

const defaultUrl = "http://127.0.0.1:8540";
const defaultDurationMs = 60_000;
const connectionsMax = 10_000;
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
    stages: readStages(given),
    warmupMs: read("warmup", readWarmup) ?? 2_000,
    arrivals: read("arrivals", readArrivals) ?? "constant",
    connections: read("connections", wholeNumber(connectionsMax)) ?? 64,
    timeoutMs: read("timeout", readDuration) ?? 10_000,
    mixFile: text("mix"),
    seed: read("seed", wholeNumber(seedMax)),
    limits: {
      p50Ms: read("max-p50", readDuration),
      p90Ms: read("max-p90", readDuration),
      p99Ms: read("max-p99", readDuration),
      errorRate: read("max-error-rate", readShare),
    },
    jsonFile: text("json"),
    htmlFile: text("html"),
    caFile: text("ca"),
    funderKeyFile: text("funder-key-file"),
  };
}

/** The stages of --ramp first, then --rate for --duration. */
function readStages({ has, read }: Given): Stage[] {
  const ramp = read("ramp", readRamp) ?? [];
  const rate = read("rate", readRate);
  if (rate === undefined) {
    if (ramp.length === 0) {
      throw unusable("--rate N is missing: how many scripts to begin a second (or --ramp).");
    }
    if (has("duration")) {
      throw unusable("--duration needs --rate; the stages of --ramp have lengths of their own.");
    }
    return ramp;
  }
  const durationMs = read("duration", readDuration) ?? defaultDurationMs;
  return [...ramp, { fromPerSecond: rate, toPerSecond: rate, durationMs }];
}

function readUrl(text: string): Read<URL> {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return { value: url };
  return { expected: `an address such as ${defaultUrl} or https://rpc.example.net` };
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
