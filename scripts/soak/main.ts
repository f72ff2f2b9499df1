import { parseArgs } from "node:util";
import { soakAttack } from "./attack.ts";
import { soakFaucet } from "./faucet.ts";
import { runRandomFaults } from "./random-faults/run-random-faults.ts";
import { runSubscribers } from "./subscribers/run-subscribers.ts";

const usage = `Usage: npm run soak -- --minutes N [--seed S]

Two gateways before five validators that are struck by random faults, a new network each round, each with the next seed:
reads and sends by turns with subscribers and filters, of whose gateways one is restarted. No round begins after N
minutes. Ends with exit code 1 at the first thing that must not happen; --seed repeats from there: the order of calls,
blocks and faults follows from it, and from nothing else.

  npm run soak -- faucet --help   the faucet's
  npm run soak -- attack --help   attacks on gateways, while a quiet key's calls are measured
`;
const roundLength = 4;

const [name, ...rest] = process.argv.slice(2);
if (name === "faucet" || name === "attack") {
  process.exitCode = await (name === "faucet" ? soakFaucet : soakAttack)(rest);
} else {
  const options = readArguments();
  if (options.help) console.log(usage);
  else process.exitCode = await soak(options);
}

async function soak({ minutes, seed }: { minutes: number; seed: number }): Promise<number> {
  const endsAtMs = performance.now() + minutes * 60_000;
  for (let round = seed; performance.now() < endsAtMs; round += 1) {
    const stops: (() => unknown)[] = [];
    try {
      const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
      const isOdd = round % 2 === 1;
      const found = await (isOdd ? runRandomFaults : runSubscribers)(t, { seed: round, length: roundLength });
      const { faults, broken, ...counts } = found;
      const counted = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
      console.log(`${counted.join(", ")}: ${faults.length} faults, ${broken.length} broken`);
      if (broken.length > 0) {
        console.log(`${broken.join("\n")}\nfaults: ${faults.join(", ")}`);
        return 1;
      }
    } finally {
      for (const stop of stops) await stop();
    }
  }
  return 0;
}

function readArguments(): { minutes: number; seed: number; help: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "1" },
        seed: { type: "string", default: "1" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const read = { minutes: Number(values.minutes), seed: Number(values.seed), help: values.help };
    if (!(read.minutes > 0) || !Number.isSafeInteger(read.seed))
      throw new Error("--minutes and --seed take numbers");
    return read;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
