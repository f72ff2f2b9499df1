import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { nameOutOf, seedNumber, wholeNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { plantedFaults } from "./merchant-crashes/plant-fault.ts";
import { runMerchantSeeds } from "./merchant-crashes/run-merchant-seeds.ts";

const program: SingleProgram = {
  invocation: "npm run soak -- merchant",
  summary:
    "Two APIs, their PostgreSQL and their Redis are killed with kill -9 at named points and drawn steps, while invoices are\n" +
    "paid right, wrong, late, doubled, in parts, after they were canceled and by contract wallets, wallets buy keys, and receivers\n" +
    "of webhooks fail, hang, answer garbage, lose their answers or want none. In the end everything must be booked as the chain\n" +
    "has it, each paid key be issued once, each payment have been told of under one id, with numbers without a gap, and the burn\n" +
    "sink hold what was burned, to the wei. Ends with exit code 1 at the first seed where that does not hold.",
  options: {
    seeds: { value: "N", text: "how many", default: "20" },
    seed: { value: "S", text: "the first", default: "1" },
    plant: {
      value: "FAULT",
      text: `a fault that has to be found: ${plantedFaults.map((fault) => `"${fault}"`).join(", ")}`,
    },
  },
};

/** `npm run soak -- merchant`. @returns the exit code. */
export async function soakMerchant(args: readonly string[]): Promise<0 | 1 | 2> {
  const given = readProgram(program, args, ({ need, read }) => ({
    seeds: need("seeds", wholeNumber(1_000_000)),
    seed: need("seed", seedNumber),
    plant: read("plant", nameOutOf(plantedFaults)),
  }));
  if (given.kind !== "run") {
    const isHelp = given.kind === "help";
    (isHelp ? process.stdout : process.stderr).write(given.text);
    return isHelp ? exitCodes.done : exitCodes.unusable;
  }
  const { seeds, seed: first, plant } = given.options;
  const stops: (() => unknown)[] = [];
  let isBroken = false;
  try {
    await runMerchantSeeds(
      { teardown: (stop) => stops.unshift(stop) },
      {
        seeds: Array.from({ length: seeds }, (_, index) => first + index),
        ...(plant === undefined ? {} : { plant }),
        onFindings({ seed, orders, keys, webhooks, faults, broken, tookMs }) {
          const seconds = (tookMs / 1000).toFixed(1);
          process.stdout.write(
            `seed ${seed}: ${orders} invoices, ${keys} keys, ${webhooks.events} events in ${webhooks.requests} requests, ${broken.length} broken, ${seconds} s: ${faults.join(", ")}\n`,
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
