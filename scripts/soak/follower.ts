import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { seedNumber, wholeNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { runFollowerSeeds } from "./follower-crashes/run-follower-seeds.ts";

const program: SingleProgram = {
  invocation: "npm run soak -- follower",
  summary:
    "Two followers of one index and their PostgreSQL are killed with kill -9, their chain is cut off or taken back, at points\n" +
    "that the seed draws, while blocks come; in every other seed both write at the same time. In the end every row must equal\n" +
    "a fresh backfill's. Ends with exit code 1 at the first seed where that does not hold.",
  options: {
    seeds: { value: "N", text: "how many", default: "20" },
    seed: { value: "S", text: "the first", default: "1" },
  },
};

/** `npm run soak -- follower`. @returns the exit code. */
export async function soakFollower(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readProgram(program, args, ({ need }) => ({
    seeds: need("seeds", wholeNumber(1_000_000)),
    seed: need("seed", seedNumber),
  }));
  if (read.kind !== "run") {
    const isHelp = read.kind === "help";
    (isHelp ? process.stdout : process.stderr).write(read.text);
    return isHelp ? exitCodes.done : exitCodes.unusable;
  }
  const stops: (() => unknown)[] = [];
  let isBroken = false;
  try {
    await runFollowerSeeds(
      { teardown: (stop) => stops.unshift(stop) },
      {
        seeds: read.options.seeds,
        first: read.options.seed,
        onFindings({ seed, blocks, faults, broken, tookMs }) {
          const done = faults.map(({ what, point, nth }) => `${what} ${point} ${nth}`).join(", ");
          const seconds = (tookMs / 1000).toFixed(1);
          process.stdout.write(
            `seed ${seed}: ${blocks} blocks, ${broken.length} broken, ${seconds} s: ${done}\n`,
          );
          if (broken.length === 0) return;
          isBroken = true;
          process.stdout.write(`${broken.join("\n")}\n`);
        },
        goesOn: () => !isBroken,
      },
    );
  } finally {
    for (const stop of stops) await stop();
  }
  return isBroken ? 1 : 0;
}
