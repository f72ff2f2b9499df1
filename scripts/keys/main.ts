import { runKeys } from "./run-keys.ts";

/** `npm run keys -- create|list|show|rotate|revoke|team|export|import …`: gives out, lists, takes back and backs up API keys. */
process.exitCode = await runKeys({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
