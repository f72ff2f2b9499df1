import t from "tap";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { runSuites } from "./run-suites.ts";

const valkey = await findProgram({ names: ["valkey-server"], path: process.env["PATH"] });
const isCi = process.env["CI"] !== undefined;
const skip =
  valkey === undefined &&
  !isCi &&
  "valkey-server is not installed: sh scripts/processes/install-valkey.sh FOLDER, then put FOLDER/bin on PATH";

t.test("limits, keys, filters and the faucet over Valkey", { skip }, async (t) => {
  await runSuites(t, "valkey");
});
