import { type Measured, runWrk } from "./run-wrk.ts";
import type { Server } from "./start-server.ts";
import type { Work } from "./works.ts";

const connections = 50;

/**
 * Measures each work against a bare server, in turns, and prints a line of it.
 * @returns what is below half its goal.
 */
export async function compareWorks({
  works,
  bare,
  only,
  rounds,
  seconds,
  folder,
}: {
  works: readonly Work[];
  bare: Server;
  /** Works whose name contains it. */
  only: string;
  rounds: number;
  seconds: number;
  folder: string;
}): Promise<string[]> {
  const load = (server: Server, requests: Work["requests"]) =>
    runWrk({ server, requests, folder, connections, seconds });
  const missed: string[] = [];
  process.stdout.write(
    `work                     a CPU second     bare  ratio   goal    p50      p99 (${connections} connections)\n`,
  );
  for (const work of works.filter(({ name }) => name.includes(only))) {
    // A first round warms V8 up, so that neither server is measured with uncompiled code.
    await load(work.server, work.requests);
    await load(bare, { paths: ["/"] });
    const pairs: { bare: Measured; own: Measured }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push({ bare: await load(bare, { paths: ["/"] }), own: await load(work.server, work.requests) });
    }
    const pair = pairs.toSorted((one, other) => ratioOf(one) - ratioOf(other))[Math.floor(rounds / 2)];
    if (pair === undefined) continue;
    const { own } = pair;
    const ratio = ratioOf(pair);
    if (ratio < work.goal / 2) missed.push(`${work.name}: ${ratio.toFixed(2)} of ${work.goal}`);
    process.stdout.write(
      `${work.name.padEnd(24)} ${column(own.perCpuSecond, 12)} ${column(pair.bare.perCpuSecond, 8)}   ${ratio.toFixed(2)}   ${work.goal.toFixed(2)} ` +
        `${own.p50Ms.toFixed(1).padStart(5)} ms ${own.p99Ms.toFixed(1).padStart(5)} ms\n`,
    );
  }
  return missed;
}

const ratioOf = ({ bare, own }: { bare: Measured; own: Measured }) => own.perCpuSecond / bare.perCpuSecond;
const column = (value: number, width: number) => String(Math.round(value)).padStart(width);
