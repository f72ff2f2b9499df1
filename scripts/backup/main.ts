import { runBackup } from "./run-backup.ts";

/** `npm run backup -- init|take|list|verify|restore|ship …`: takes backups, looks whether they are whole, and brings them back. */
process.exitCode = await runBackup({
  args: process.argv.slice(2),
  env: process.env,
  interruption() {
    const stopping = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopping.abort());
    return stopping.signal;
  },
  now: Date.now,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
});
