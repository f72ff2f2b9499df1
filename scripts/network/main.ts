import { createLiveProgress, createPlainProgress } from "./output/progress-view.ts";
import { runAttached } from "./run-attached.ts";
import { runNetwork } from "./run-network.ts";

/** `npm run network -- up|down|status|logs|stop|start|wipe|recover|keys|faucet|compose …`: runs a network that genesis has made. */
const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopping.abort());

// The reader has closed the pipe, as in `logs --follow | head`.
process.stdout.on("error", () => stopping.abort());

// Progress goes to stderr, so that --json stays JSON.
const write = (text: string) => process.stderr.write(text);
process.exitCode = await runNetwork({
  args: process.argv.slice(2),
  env: process.env,
  signal: stopping.signal,
  now: Date.now,
  attached: { run: runAttached, isTerminal: process.stdin.isTTY === true },
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  progress: process.stderr.isTTY
    ? createLiveProgress({ write, now: Date.now })
    : createPlainProgress({ write }),
});
