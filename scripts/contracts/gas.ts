import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { count, json, table } from "../../lib/cli/format.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ContractsCommand } from "./command.ts";
import { repositoryFolder } from "./forge.ts";
import { measureGas } from "./measure-gas.ts";

export const gasFile = resolve(repositoryFolder, "genesis/contracts/gas.json");

export const gasCommand: ContractsCommand = {
  name: "gas",
  positionals: [],
  summary: "Measures on an anvil of its own what each use of the contracts costs.",
  details: ["genesis/contracts/gas.json has the figures that are checked in."],
  options: {
    check: { text: "exit code 1 where a figure is not the one that is checked in" },
    write: { text: "check the figures in" },
  },
  examples: ["gas", "gas --check"],
  async run({ values, print, note }) {
    const measured = await measureGas();
    const text = `${json(measured)}\n`;
    print(
      table(
        ["use", "gas"],
        Object.entries(measured).map(([use, gas]) => [use, count(gas)]),
      ),
    );
    if (values["write"] === true) await writeFile(gasFile, text);
    if (values["check"] !== true) return exitCodes.done;
    if (text === (await readFile(gasFile, "utf8").catch(() => ""))) return exitCodes.done;
    note(
      "genesis/contracts/gas.json has other figures. Where they are meant: npm run contracts -- gas --write",
    );
    return exitCodes.failed;
  },
};
