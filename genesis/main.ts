import { runGenesis } from "./run-genesis.ts";

/** `npm run genesis -- init|inspect …`: makes a network of validators, or reads a genesis file. */
process.exitCode = await runGenesis({
  args: process.argv.slice(2),
  env: process.env,
  now: () => new Date(),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
