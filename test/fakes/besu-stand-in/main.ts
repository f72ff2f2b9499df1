import { readFault, readStandInVersion } from "./faults.ts";
import { startStandIn } from "./start-stand-in.ts";

/** `besu --config-file=FILE …`, run by the bin/besu that placeStandIn writes. */
let end = () => {};
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    end();
    process.exit(0);
  });
}

// Nodes outlive the command that starts them. Those of a test must not outlive the test, also where it is killed.
const owner = Number(process.env["STAND_IN_OWNER_PID"]);
if (owner > 0) setInterval(() => isRunning(owner) || process.exit(0), 500).unref();

const say = (text: string) => process.stdout.write(`${new Date().toISOString()} | INFO | ${text}\n`);

const version = readStandInVersion(process.env);
const fault = readFault(process.env);
if (process.argv.includes("--version")) {
  process.stdout.write(`besu/v${version}/stand-in\n`);
  process.exit(0);
}

try {
  if (fault === "does not start") throw new Error("Unsupported class file major version 99");
  ({ end } = await startStandIn(process.argv.slice(2), say, { version, fault }));
  if (fault === "ends later")
    setTimeout(() => process.exit(3), Number(process.env["STAND_IN_ENDS_AFTER_MS"] ?? 60_000));
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? error.message : String(error)}\n\nTo display full help:\nbesu [COMMAND] --help\n`,
  );
  process.exit(1);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
