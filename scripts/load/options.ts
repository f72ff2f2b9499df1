import { CommandError, textOf } from "../../lib/cli/command.ts";
import { help } from "../../lib/cli/help-text.ts";
import { readArguments } from "../../lib/cli/read-arguments.ts";
import { type ArrivalKind, arrivalKinds, type Stage } from "./drive/arrivals.ts";
import { type Read, readCount, readDuration, readRamp, readRate, readShare } from "./read-values.ts";
import type { ThresholdLimits } from "./report/thresholds.ts";
import { loadCommand, loadProgram } from "./usage.ts";

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

export type ReadOptions =
  | { kind: "run"; options: LoadOptions }
  | { kind: "help"; text: string }
  | { kind: "unusable"; text: string };

const defaultUrl = "http://127.0.0.1:8540";
const defaultDurationMs = 60_000;
const connectionsMax = 10_000;
const seedMax = 0xffff_ffff;

/** Reads the command line; `unusable` says what was expected instead. */
export function readOptions(args: readonly string[]): ReadOptions {
  try {
    const { values } = readArguments(loadProgram, loadCommand, args);
    if (values["help"] === true) return { kind: "help", text: `${help(loadProgram, loadCommand)}\n` };
    return { kind: "run", options: readAll((name) => textOf(values, name)) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { kind: "unusable", text: error.message };
  }
}

type TextOf = (name: string) => string | undefined;

function readAll(given: TextOf): LoadOptions {
  const read = <Value>(name: string, reader: (text: string) => Read<Value>): Value | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    const result = reader(text);
    if ("value" in result) return result.value;
    throw unusable(`--${name}: ${result.expected} was expected, not "${text}".`);
  };
  if (given("key") !== undefined && given("key-file") !== undefined) {
    throw unusable("--key and --key-file were both given: one is enough.");
  }
  return {
    url: read("url", readUrl) ?? new URL(defaultUrl),
    key: given("key"),
    keyFile: given("key-file"),
    stages: readStages(given, read),
    warmupMs: read("warmup", readWarmup) ?? 2_000,
    arrivals: read("arrivals", readArrivals) ?? "constant",
    connections: read("connections", (text) => readCount(text, connectionsMax)) ?? 64,
    timeoutMs: read("timeout", readDuration) ?? 10_000,
    mixFile: given("mix"),
    seed: read("seed", (text) => readCount(text, seedMax)),
    limits: {
      p50Ms: read("max-p50", readDuration),
      p90Ms: read("max-p90", readDuration),
      p99Ms: read("max-p99", readDuration),
      errorRate: read("max-error-rate", readShare),
    },
    jsonFile: given("json"),
    htmlFile: given("html"),
    caFile: given("ca"),
    funderKeyFile: given("funder-key-file"),
  };
}

/** The stages of --ramp first, then --rate for --duration. */
function readStages(
  given: TextOf,
  read: <Value>(name: string, reader: (text: string) => Read<Value>) => Value | undefined,
): Stage[] {
  const ramp = read("ramp", readRamp) ?? [];
  const rate = read("rate", readRate);
  if (rate === undefined) {
    if (ramp.length === 0) {
      throw unusable("--rate N is missing: how many scripts to begin a second (or --ramp).");
    }
    if (given("duration") !== undefined) {
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
  return new CommandError(`${text}\nSee: npm run load -- --help`, { exitCode: 2 });
}
