import { parseArgs } from "node:util";
import { runCrashSeeds } from "./faucet-crashes/run-crash-seeds.ts";

const usage = `Usage: npm run soak -- faucet [--seeds N] [--seed S] [--at-once N]

Two faucets, their Redis and their connection to the chain are killed and cut at named points and drawn steps while
50 claims come in; in the end each must have been paid exactly once. N times (200 unless told otherwise), beginning with
seed S, 4 at once unless told otherwise. Ends with exit code 1 at the first seed where that does not hold.
`;

/** The faucet's part of `npm run soak`. Answers the exit code. */
export async function soakFaucet(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readArguments(args);
  if (read === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  if (read.help) {
    process.stdout.write(usage);
    return 0;
  }
  let isBroken = false;
  await runCrashSeeds({
    seeds: Array.from({ length: read.seeds }, (_, index) => read.seed + index),
    atOnce: read.atOnce,
    onFindings({ seed, faults, broken, tookMs }) {
      const seconds = (tookMs / 1000).toFixed(1);
      process.stdout.write(`seed ${seed}: ${faults.length} faults, ${broken.length} broken, ${seconds} s\n`);
      if (broken.length === 0) return;
      isBroken = true;
      process.stdout.write(`${broken.join("\n")}\nfaults: ${faults.join(", ")}\n`);
    },
    goesOn: () => !isBroken,
  });
  return isBroken ? 1 : 0;
}

function readArguments(
  args: readonly string[],
): { seeds: number; seed: number; atOnce: number; help: boolean } | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string", default: "200" },
        seed: { type: "string", default: "1" },
        "at-once": { type: "string", default: "4" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const seeds = Number(values.seeds);
    const seed = Number(values.seed);
    const atOnce = Number(values["at-once"]);
    const isUsable = isCount(seeds) && isCount(atOnce) && Number.isSafeInteger(seed);
    return isUsable ? { seeds, seed, atOnce, help: values.help } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
