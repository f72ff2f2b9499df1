import { CommandError, textOf } from "../../lib/cli/command.ts";
import { wholeNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ContractsCommand } from "./command.ts";
import { runForge } from "./forge.ts";

export const fuzzRunsDefault = 256;
export const fuzzRunsInCi = 2000;

/** So many calls in random order before each look at the invariants. */
const invariantDepth = 100;

export const testCommand: ContractsCommand = {
  name: "test",
  positionals: [],
  summary: "Runs forge over the contracts: examples, fuzzed properties, invariants.",
  details: [`Where CI is set each property is tried ${fuzzRunsInCi} times.`],
  options: {
    runs: { value: "N", text: `how often each property is tried (${fuzzRunsDefault})` },
    seed: { value: "SEED", text: "0x and hex digits: tries the same cases again" },
  },
  examples: ["test", "test --runs 20000 --seed 0x7"],
  async run({ values, env, print, note }) {
    const runs = readRuns(textOf(values, "runs"), env);
    const seed = textOf(values, "seed");
    if (seed !== undefined && !/^0x[0-9a-f]{1,64}$/i.test(seed)) {
      throw new CommandError("--seed: 0x and up to 64 hex digits were expected.", { exitCode: 2 });
    }
    const { code, stdout, stderr } = await runForge({
      args: ["test", "--threads", "2", ...(seed === undefined ? [] : ["--fuzz-seed", seed])],
      env: forgeRuns(runs),
    });
    print(stdout.trimEnd());
    if (stderr.trim() !== "") note(stderr.trimEnd());
    return code === 0 ? exitCodes.done : exitCodes.failed;
  },
};

/** An invariant costs as much as 32 tries of a property: so many runs of 100 calls each, after each of which it is looked at. */
export function forgeRuns(runs: number): Readonly<Record<string, string>> {
  return {
    FOUNDRY_FUZZ_RUNS: String(runs),
    FOUNDRY_INVARIANT_RUNS: String(Math.max(1, Math.round(runs / 32))),
    FOUNDRY_INVARIANT_DEPTH: String(invariantDepth),
  };
}

function readRuns(text: string | undefined, env: Readonly<Record<string, string | undefined>>): number {
  if (text === undefined) return (env["CI"] ?? "") === "" ? fuzzRunsDefault : fuzzRunsInCi;
  const read = wholeNumber(1_000_000)(text);
  if ("value" in read) return read.value;
  throw new CommandError("--runs: a whole number from 1 to 1000000 was expected.", { exitCode: 2 });
}
