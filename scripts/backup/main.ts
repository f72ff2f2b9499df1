import { runBackup } from "./run-backup.ts";

/** `npm run backup -- init|take|list|verify|restore|ship …`: takes backups, looks whether they are whole, and brings them back. */
process.exitCode = await runBackup({
  args: process.argv.slice(2),
  env: process.env,
  now: Date.now,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
