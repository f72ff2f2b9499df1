import { runFaucet } from "./run-faucet.ts";

/** `npm run faucet -- allow|deny|list|pause|resume|status`: who may claim, and whether anybody may at the moment. */
process.exitCode = await runFaucet({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
