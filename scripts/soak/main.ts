import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { positiveNumber, seedNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { soakAttack } from "./attack.ts";
import { soakFaucet } from "./faucet.ts";
import { soakFollower } from "./follower.ts";
import { soakMerchant } from "./merchant.ts";
import { runRandomFaults } from "./random-faults/run-random-faults.ts";
import { runSubscribers } from "./subscribers/run-subscribers.ts";

const program: SingleProgram = {
  invocation: "npm run soak --",
  summary:
    "Two gateways before five validators that are struck by random faults, a new network each round, each with the next seed:\n" +
    "reads and sends by turns with subscribers and filters, of whose gateways one is restarted. Ends with exit code 1 at the\n" +
    "first thing that must not happen; --seed repeats from there: the order of calls, blocks and faults follows from it, and\n" +
    "from nothing else.",
  options: {
    minutes: { value: "N", text: "no round begins after them", default: "1" },
    seed: { value: "S", text: "the first seed", default: "1" },
  },
  details: [
    "npm run soak -- faucet --help     the faucet's",
    "npm run soak -- follower --help   that of the index of the chain in PostgreSQL",
    "npm run soak -- merchant --help   that of payments and of keys that are sold",
    "npm run soak -- attack --help     attacks on gateways, while a quiet key's calls are measured",
  ],
};
const roundLength = 4;

const [name, ...rest] = process.argv.slice(2);
const others = { faucet: soakFaucet, follower: soakFollower, merchant: soakMerchant, attack: soakAttack };
if (name === "faucet" || name === "follower" || name === "merchant" || name === "attack") {
  process.exitCode = await others[name](rest);
} else {
  const read = readProgram(program, process.argv.slice(2), ({ need }) => ({
    minutes: need("minutes", positiveNumber),
    seed: need("seed", seedNumber),
  }));
  if (read.kind === "help") process.stdout.write(read.text);
  else if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
  } else process.exitCode = await soak(read.options);
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
