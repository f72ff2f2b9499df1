import { runApi } from "./run-api.ts";

/** `npm run api -- migrate|status|confirm`: the schema, how far the index is, and what comes after a restore. */
process.exitCode = await runApi({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
