import { readFile } from "node:fs/promises";
import t from "tap";
import { gasFile } from "../../../scripts/contracts/gas.ts";
import { measureGas } from "../../../scripts/contracts/measure-gas.ts";

t.test("each use costs the gas that is checked in", async (t) => {
  const expected: unknown = JSON.parse(await readFile(gasFile, "utf8"));
  t.same(await measureGas(), expected, "npm run contracts -- gas --write, where it is meant");
});
