import { runContracts } from "./run-contracts.ts";

/** `npm run contracts -- compile|deploy|check|signers|test|mutants|gas|slither`: the contract that takes fees. */
process.exitCode = await runContracts({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
