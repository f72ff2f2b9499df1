import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { seedNumber, wholeNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { runCrashSeeds } from "./faucet-crashes/run-crash-seeds.ts";

const program: SingleProgram = {
  invocation: "npm run soak -- faucet",
  summary:
    "Two faucets, their Redis and their connection to the chain are killed and cut at named points and drawn steps while\n" +
    "50 claims come in; in the end each must have been paid exactly once. Ends with exit code 1 at the first seed where that\n" +
    "does not hold.",
  options: {
    seeds: { value: "N", text: "how many", default: "200" },
    seed: { value: "S", text: "the first", default: "1" },
    "at-once": { value: "N", text: "how many run at the same time", default: "4" },
  },
};

/** `npm run soak -- faucet`. @returns the exit code. */
export async function soakFaucet(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readProgram(program, args, ({ need }) => ({
    seeds: need("seeds", wholeNumber(1_000_000)),
    seed: need("seed", seedNumber),
    atOnce: need("at-once", wholeNumber(1000)),
  }));
  if (read.kind !== "run") {
    const isHelp = read.kind === "help";
    (isHelp ? process.stdout : process.stderr).write(read.text);
    return isHelp ? exitCodes.done : exitCodes.unusable;
  }
  const { seeds, seed: first, atOnce } = read.options;
  let isBroken = false;
  await runCrashSeeds({
    seeds: Array.from({ length: seeds }, (_, index) => first + index),
    atOnce,
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
