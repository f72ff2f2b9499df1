import { parseArgs } from "node:util";
import { runFollowerSeeds } from "./follower-crashes/run-follower-seeds.ts";

const usage = `Usage: npm run soak -- follower [--seeds N] [--seed S]

Two followers of one index and their PostgreSQL are killed with kill -9, their chain is cut off or taken back, at points
that the seed draws, while blocks come; in every other seed both write at the same time. In the end every row must equal
a fresh backfill's. N times (20 unless told otherwise), beginning with seed S. Ends with exit code 1 at the first seed
where that does not hold.
`;

/** The follower's part of `npm run soak`. Answers the exit code. */
export async function soakFollower(args: readonly string[]): Promise<0 | 1 | 2> {
  const read = readArguments(args);
  if (read === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  if (read.help) {
    process.stdout.write(usage);
    return 0;
  }
  const stops: (() => unknown)[] = [];
  let isBroken = false;
  try {
    await runFollowerSeeds(
      { teardown: (stop) => stops.unshift(stop) },
      {
        seeds: read.seeds,
        first: read.seed,
        onFindings({ seed, blocks, faults, broken, tookMs }) {
          isBroken = broken.length > 0;
          const done = faults.map(({ what, point, nth }) => `${what} ${point} ${nth}`).join(", ");
          const seconds = (tookMs / 1000).toFixed(1);
          process.stdout.write(`seed ${seed}: ${blocks} blocks, ${broken.length} broken, ${seconds} s: ${done}\n`);
          if (isBroken) process.stdout.write(`${broken.join("\n")}\n`);
        },
        goesOn: () => !isBroken,
      },
    );
  } finally {
    for (const stop of stops) await stop();
  }
  return isBroken ? 1 : 0;
}

function readArguments(args: readonly string[]): { seeds: number; seed: number; help: boolean } | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string", default: "20" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const seeds = Number(values.seeds);
    const seed = Number(values.seed);
    const isUsable = Number.isSafeInteger(seeds) && seeds > 0 && Number.isSafeInteger(seed);
    return isUsable ? { seeds, seed, help: values.help } : undefined;
  } catch {
    return undefined;
  }
}
