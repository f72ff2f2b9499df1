import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { readProgram } from "../cli/read-program.ts";
import { url } from "../config/schemas.ts";
import { opsOrigin } from "./ask-reload.ts";
import { exitCodes } from "./exit-codes.ts";

const askMs = 10_000;
const pollMs = 500;

const answerSchema = z.union([
  z.object({ outcome: z.literal("begun") }),
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
export async function runRestart(
  service: { name: string; invocation: string; configFile: string; opsPort: number },
  args: readonly string[],
): Promise<void> {
  const { name, invocation, configFile, opsPort } = service;
  const read = readProgram(
    {
      invocation: `${invocation} restart`,
      summary: `Replaces the processes of the running ${name} one after the other, without a refused call.`,
      options: {
        config: { value: "FILE", text: "where to find its ops server's address", default: configFile },
        ops: { value: "ADDRESS", text: "its ops server, such as http://127.0.0.1:9540, instead" },
      },
      details: [
        "Each new process runs the program and reads the files as they are now; the old one stops once the new one serves.",
        "If a new one cannot start the others go on as they are. It needs more than one worker (workers in the configuration).",
        "What is not replaced is the process that starts the others: a new version of that needs a stop and a start.",
      ],
    },
    args,
    (given) => ({ file: given.needText("config"), ops: given.read("ops", readAddress) }),
  );
  if (read.kind === "help") return void process.stdout.write(read.text);
  if (read.kind === "unusable") {
    process.stderr.write(read.text);
    process.exitCode = exitCodes.unusable;
    return;
  }
  const { file, ops } = read.options;
  const origin = ops ?? opsOrigin({ file, env: process.env, defaultPort: opsPort }).origin;
  process.exitCode = await restart({ name, ops: origin });
}

async function restart({ name, ops }: { name: string; ops: string }): Promise<number> {
  try {
    const begun = answerSchema.parse(await ask(new URL("/restart", ops), "POST"));
    if (begun.outcome === "refused") return refused(name, begun.problems);
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

function readAddress(text: string) {
  const read = url(["http:"]).safeParse(text);
  return read.success ? { value: read.data } : { expected: "an address such as http://127.0.0.1:9540" };
}
