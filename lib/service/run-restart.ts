import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { exitCodes } from "./exit-codes.ts";
import { type AskedService, readAsked, tellProblems } from "./read-asked.ts";

const askMs = 10_000;
const pollMs = 500;

const answerSchema = z.union([
  z.object({ outcome: z.literal("begun"), remains: z.string().optional() }),
  z.object({ outcome: z.literal("refused"), problems: z.array(z.string()) }),
  z
    .object({ detail: z.string() })
    .transform(({ detail }) => ({ outcome: "refused" as const, problems: [detail] })),
]);

const statusSchema = z.object({
  workers: z.object({
    restart: z.object({
      state: z.enum(["running", "done", "refused"]),
      replaced: z.number(),
      of: z.number(),
      problems: z.array(z.string()),
    }),
  }),
});

/**
 * `restart` of a service's command line: has the processes behind one port replaced, one after the other, and tells how far it
 * has come. Ends with 0, with 2 where a replacement could not start, with 1 where nobody could be asked.
 */
export async function runRestart(service: AskedService, args: readonly string[]): Promise<void> {
  const { name } = service;
  const asked = readAsked(
    service,
    {
      name: "restart",
      summary: `Replaces the processes of the running ${name} one after the other, without a refused call.`,
      details: [
        "Each new process runs the program and reads the files as they are now; the old one stops once the new one serves.",
        "If a new one cannot start the others go on as they are. It needs more than one worker (workers in the configuration).",
        "What is not replaced is the process that starts the others: a new version of that needs a stop and a start.",
      ],
    },
    args,
  );
  if (asked === undefined) return;
  const exitCode = await restart({ name, ops: asked.origin });
  if (exitCode === exitCodes.failed) tellProblems(asked);
  process.exitCode = exitCode;
}

async function restart({ name, ops }: { name: string; ops: string }): Promise<number> {
  try {
    const begun = answerSchema.parse(await ask(new URL("/restart", ops), "POST"));
    if (begun.outcome === "refused") return refused(name, begun.problems);
    if (begun.remains !== undefined) process.stdout.write(`${begun.remains}\n`);
    for (let told = -1; ; ) {
      const { state, replaced, of, problems } = statusSchema.parse(await ask(new URL("/status", ops), "GET"))
        .workers.restart;
      if (replaced !== told) process.stdout.write(`${replaced} of ${of} processes are replaced\n`);
      told = replaced;
      if (state === "refused") return refused(name, problems);
      if (state === "done") return exitCodes.done;
      await wait(pollMs);
    }
  } catch {
    process.stderr.write(`No ${name} that can be restarted answers at ${ops}; elsewhere: --ops ADDRESS\n`);
    return exitCodes.failed;
  }
}

async function ask(address: URL, method: "GET" | "POST"): Promise<unknown> {
  const response = await fetch(address, { method, signal: AbortSignal.timeout(askMs) });
  return response.json();
}

function refused(name: string, problems: readonly string[]): number {
  process.stderr.write(`The ${name} goes on as it is:\n  ${problems.join("\n  ")}\n`);
  return exitCodes.unusable;
}
