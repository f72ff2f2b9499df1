import { runApi } from "./run-api.ts";

/** `npm run api -- migrate|status`: the schema of the index, and how far the index is. */
process.exitCode = await runApi({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
