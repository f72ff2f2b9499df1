import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ContractsCommand } from "./command.ts";
import { plantedFaults } from "./planted-faults.ts";
import { tryFault } from "./try-fault.ts";

export const mutantsCommand: ContractsCommand = {
  name: "mutants",
  positionals: [],
  summary: "Plants faults in copies of the contracts, and tells which test finds each.",
  details: ["Exit code 1 where a fault is found by none, or can no more be planted."],
  options: {},
  examples: ["mutants"],
  async run({ print, note }) {
    let missed = 0;
    for (const fault of plantedFaults) {
      const outcome = await tryFault(fault);
      if ("foundBy" in outcome) {
        const [first, ...others] = outcome.foundBy;
        const more = others.length === 0 ? "" : ` and ${others.length} more`;
        print(`found   ${fault.name}: ${first}${more}`);
      } else {
        missed += 1;
        note(`MISSED  ${fault.name}: ${outcome.missed}`);
      }
    }
    const { length: all } = plantedFaults;
    print(`${all - missed} of ${all} planted faults were found.`);
    return missed === 0 ? exitCodes.done : exitCodes.failed;
  },
};
