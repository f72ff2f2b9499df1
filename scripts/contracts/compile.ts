import { relative } from "node:path";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { changedArtifacts, writeArtifacts } from "./artifact-files.ts";
import type { ContractsCommand } from "./command.ts";
import { compileContracts } from "./compile-contracts.ts";

export const compileCommand: ContractsCommand = {
  name: "compile",
  positionals: [],
  summary: "Compiles genesis/contracts into what is checked in and deployed.",
  details: [
    "A change of the code is another address: what is deployed stays as it is, and a new FeeCollector stands beside it.",
  ],
  options: { check: { text: "write nothing; exit code 1 where what is checked in is something else" } },
  examples: ["compile", "compile --check"],
  async run({ values, print, note }) {
    const contracts = await compileContracts();
    if (values["check"] !== true) {
      const written = await writeArtifacts(contracts);
      print(written.length === 0 ? "Nothing has changed." : `Written: ${written.map(shown).join(", ")}`);
      return exitCodes.done;
    }
    const changed = (await changedArtifacts(contracts)).map(({ file }) => shown(file));
    if (changed.length === 0) {
      print("What is checked in is what the sources compile to.");
      return exitCodes.done;
    }
    note(`${changed.join(", ")} is not what the sources compile to: npm run contracts -- compile`);
    return exitCodes.failed;
  },
};

function shown(file: string): string {
  return relative(process.cwd(), file);
}
