import { CommandError, type SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { abortOnStopSignal } from "../../lib/service/stop-signals.ts";
import { runRealBesu } from "./run-real-besu.ts";

/** docs/real-besu.md says what is looked at. */
const program: SingleProgram = {
  invocation: "npm run real-besu --",
  summary: "What only a real Besu can prove, with --besu-home or --containers.",
  options: {
    "besu-home": { value: "DIR", text: "the validators as processes of an unpacked Besu" },
    containers: { text: "in containers, with the images that docker/compose.yaml names" },
    config: {
      value: "FILE",
      text: "another network than this file's: QBFT, say",
      default: "config/network.yaml",
    },
    "upgrade-to": {
      value: "DIR",
      text: "another unpacked Besu, to which the validators are moved at the end",
    },
    only: { value: "TEXT", text: "checks alone whose titles have it, after the first" },
    minutes: { value: "N", text: "what has not begun by then is skipped", default: "15" },
    json: { value: "FILE", text: "gets the verdicts, for machines" },
    short: { text: "less of each: for a try" },
  },
  details: [
    "It makes a network of its own in a temporary folder and removes it. About 15 minutes; exits with 0 where all was looked at and nothing is NOT OK.",
  ],
};

const read = readProgram(program, process.argv.slice(2), ({ has, text, needText }) => {
  const besuHome = text("besu-home");
  if ((besuHome === undefined) === !has("containers")) {
    throw new CommandError("--besu-home DIR or --containers was expected, one of them.", { exitCode: 2 });
  }
  const minutesMax = Number(needText("minutes"));
  if (!Number.isInteger(minutesMax) || minutesMax < 1 || minutesMax > 240) {
    throw new CommandError("--minutes takes a whole number from 1 to 240.", { exitCode: 2 });
  }
  return {
    ...{ besuHome, minutesMax, upgradeTo: text("upgrade-to"), only: text("only") ?? "" },
    ...{ reportFile: text("json"), configFile: needText("config"), short: has("short") },
  };
});
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable") {
  process.stderr.write(read.text);
  process.exitCode = exitCodes.unusable;
} else {
  process.exitCode = await runRealBesu({
    ...read.options,
    env: process.env,
    signal: abortOnStopSignal(),
    print: (text) => process.stdout.write(`${text}\n`),
  });
}
