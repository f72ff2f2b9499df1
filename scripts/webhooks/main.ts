import { abortOnStopSignal } from "../../lib/service/stop-signals.ts";
import { runWebhooks } from "./run-webhooks.ts";

/** `npm run webhooks -- listen`: a wallet's events, as webhooks for a developer's machine. */
process.exitCode = await runWebhooks({
  args: process.argv.slice(2),
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  stopping: abortOnStopSignal(),
});
