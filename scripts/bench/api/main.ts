import { parseArgs } from "node:util";
import { findProgram } from "../../processes/find-program.ts";
import { compareWorks } from "./compare-works.ts";
import { measureLive } from "./measure-live.ts";
import { mineOne } from "./prepare-chain.ts";
import { startRig } from "./start-rig.ts";
import { startBareServer } from "./start-server.ts";
import { prepareWorks } from "./works.ts";

const usage = `Usage: npm run bench -- api [--rounds N] [--seconds N] [--clients N,N…] [--only WORK] [--check]

Requests a CPU second of the API against those of a bare Fastify handler, in turns in the same run, after its answers have
been looked at; then how soon clients of /api/v1/live have a block. --check ends with 1 where a ratio is below half its goal.
Needs wrk; Linux only, whose /proc tells a process's CPU time.
`;

export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  if ((await findProgram({ names: ["wrk"], path: process.env["PATH"] })) === undefined) {
    process.stderr.write("wrk is not installed\n");
    process.exitCode = 1;
    return;
  }
  const stops: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  try {
    await bench(t, options);
  } finally {
    for (const stop of stops) await stop();
  }
}

type Options = { rounds: number; seconds: number; clients: number[]; only: string; check: boolean };

function readOptions(args: readonly string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "3" },
        seconds: { type: "string", default: "2" },
        clients: { type: "string", default: "200,1000,2000" },
        only: { type: "string", default: "" },
        check: { type: "boolean", default: false },
      },
    });
    const clients = values.clients
      .split(",")
      .filter((text) => text !== "")
      .map(Number);
    const options = { ...values, rounds: Number(values.rounds), seconds: Number(values.seconds), clients };
    const isUsable = [options.rounds, options.seconds, ...clients].every((value) => value >= 1);
    return isUsable ? options : undefined;
  } catch {
    return undefined;
  }
}

async function bench(
  t: { teardown: (stop: () => unknown) => unknown },
  { rounds, seconds, clients, only, check }: Options,
): Promise<void> {
  const rig = await startRig(t);
  const { anvil, kept, folder } = rig;
  const bare = await startBareServer(t);
  const works = await prepareWorks(rig);
  const missed = await compareWorks({ works, bare, only, rounds, seconds, folder });
  for (const count of clients) {
    const result = await measureLive({ server: kept, clients: count, mine: () => mineOne(anvil) });
    const [median, slowest] = [
      result.allAfterMs[Math.floor(result.allAfterMs.length / 2)],
      result.allAfterMs.at(-1),
    ];
    process.stdout.write(
      `live, ${count} clients: all had a block ${Math.round(median ?? 0)} ms after it was mined (median), ${Math.round(slowest ?? 0)} at most; ` +
        `${result.cpuMsPerBlock.toFixed(0)} ms of a processor a block, ${(result.cpuMsPerBlock / 20).toFixed(1)} % of one at a block in 2 s\n`,
    );
  }
  if (check && missed.length > 0) {
    process.stderr.write(`below half the goal: ${missed.join("; ")}\n`);
    process.exitCode = 1;
  }
}
