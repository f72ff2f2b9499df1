import t from "tap";
import { runContracts } from "../../../scripts/contracts/run-contracts.ts";
import { findProgram } from "../../../scripts/processes/find-program.ts";

const program = await findProgram({ names: ["slither"], path: process.env["PATH"] });
const skip = program === undefined && (process.env["CI"] ?? "") === "" ? "there is no slither" : false;

t.test("slither finds nothing that nobody has looked at", { skip }, async (t) => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const code = await runContracts({ args: ["slither"], env: process.env, print: say, note: say });
  t.equal(code, 0, said.join("\n"));
});

t.test("without slither the command says how to get it", async (t) => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  t.equal(await runContracts({ args: ["slither"], env: {}, print: say, note: say }), 1);
  t.match(said.join("\n"), /pip install slither-analyzer/);
});
