import { setTimeout as sleep } from "node:timers/promises";
import type { SingleProgram } from "../../lib/cli/command.ts";
import { readProgram } from "../../lib/cli/read-program.ts";
import { positiveNumber } from "../../lib/cli/values.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import { runShots } from "./run-shots.ts";

const program: SingleProgram = {
  invocation: "npm run pages -- shots",
  summary:
    "Pictures of every page in every state, in both languages, light and dark, at 320 and 1280 px, for people to look at: the\n" +
    "explorer over a network of five validators, the merchants' pages, the faucet, the wallet proxy. Needs Chromium; brings up the rest itself.",
  options: {
    out: { value: "FOLDER", text: "where they go; older ones are written over", default: ".data/pages" },
    only: { value: "NAME", text: "only pages whose name contains this", default: "" },
    minutes: { value: "N", text: "no page is begun after them", default: "3" },
  },
};

const endWithinMs = 10_000;

const [command, ...rest] = process.argv.slice(2);
const args = command === "shots" ? rest : process.argv.slice(2);
const read = readProgram(program, args, ({ need, needText }) => ({
  out: needText("out"),
  only: needText("only"),
  withinMs: need("minutes", positiveNumber) * 60_000,
}));
if (read.kind === "help") process.stdout.write(read.text);
else if (read.kind === "unusable" || command !== "shots") {
  process.stderr.write(read.kind === "unusable" ? read.text : "npm run pages -- shots [--help]\n");
  process.exitCode = exitCodes.unusable;
} else {
  const stops: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  try {
    const isDone = await runShots(t, { ...read.options, note: (text) => process.stderr.write(text) });
    process.exitCode = isDone ? exitCodes.done : exitCodes.failed;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = exitCodes.failed;
  } finally {
    // What was broken on purpose may not end by itself; the children go with this process.
    await Promise.race([endAll(stops), sleep(endWithinMs)]);
    process.exit();
  }
}

async function endAll(stops: readonly (() => unknown)[]): Promise<void> {
  for (const stop of stops) await stop();
}
