import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SingleProgram } from "../../../lib/cli/command.ts";
import { readProgram } from "../../../lib/cli/read-program.ts";
import { wholeNumber } from "../../../lib/cli/values.ts";
import { exitCodes } from "../../../lib/service/exit-codes.ts";
import { findProgram } from "../../processes/find-program.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { compareWorks } from "../api/compare-works.ts";
import { startRig } from "../api/start-rig.ts";
import { startBareServer } from "../api/start-server.ts";
import { measurePaint } from "./measure-paint.ts";
import { preparePages } from "./works.ts";

const program: SingleProgram = {
  invocation: "npm run bench -- pages",
  summary:
    "The explorer's pages a CPU second against those of a bare Fastify that has the home page ready in memory, in turns in the\n" +
    "same run, after the pages have been looked at; then the first paint of pages without scripts, where there is Chromium.\n" +
    "Needs wrk; Linux only, whose /proc tells a process's CPU time.",
  options: {
    rounds: { value: "N", text: "turns of each; the median counts", default: "3" },
    seconds: { value: "N", text: "of each turn", default: "2" },
    only: { value: "WORK", text: "only works whose name contains this", default: "" },
    check: { text: "ends with 1 where a ratio is below half its goal" },
  },
};
const most = 600;

export async function main(args: readonly string[]): Promise<void> {
  const read = readProgram(program, args, ({ need, needText, has }) => ({
    rounds: need("rounds", wholeNumber(most)),
    seconds: need("seconds", wholeNumber(most)),
    only: needText("only"),
    check: has("check"),
  }));
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  if ((await findProgram({ names: ["wrk"], path: process.env["PATH"] })) === undefined) {
    process.stderr.write("wrk is not installed\n");
    process.exitCode = exitCodes.failed;
    return;
  }
  const stops: (() => unknown)[] = [];
  try {
    await bench({ teardown: (stop) => stops.unshift(stop) }, read.options);
  } finally {
    for (const stop of stops) await stop();
  }
}

async function bench(
  t: Teardown,
  { rounds, seconds, only, check }: { rounds: number; seconds: number; only: string; check: boolean },
): Promise<void> {
  const rig = await startRig(t);
  const { kept, unkept, folder, fullBlock } = rig;
  const works = await preparePages(rig);
  const pageFile = join(folder, "home.html");
  const headers = { Accept: "text/html" };
  await writeFile(pageFile, await (await fetch(kept.url, { headers })).text());
  const bare = await startBareServer(t, { pageFile });
  const missed = await compareWorks({ works, bare, only, rounds, seconds, folder });
  for (const path of ["/", "/txs?limit=50", `/block/${fullBlock}`]) {
    const paint = await measurePaint(`${unkept.url}${path}`);
    if (paint === undefined) break;
    const { firstPaintMs, files, bytes } = paint;
    process.stdout.write(
      `${path}: first paint without scripts after ${firstPaintMs.toFixed(0)} ms (median), ${bytes} bytes with its ${files} files\n`,
    );
  }
  if (check && missed.length > 0) {
    process.stderr.write(`below half the goal: ${missed.join("; ")}\n`);
    process.exitCode = exitCodes.failed;
  }
}
