import { z } from "zod";
import { ConfigError, readConfig } from "../config/read-config.ts";
import { privateListener } from "../config/schemas.ts";
import { textOf } from "../reload/differences.ts";
import { exitCodes } from "./exit-codes.ts";

/** How long a process may take to read and check its configuration. */
const answerTimeoutMs = 10_000;

/** What the person at the terminal reads, and the program's exit code. */
export type AskedReload = { text: string; isProblem: boolean; exitCode: number };

/**
 * Asks a running process to read its configuration again. The process reads the file that it was started with; `ops` says
 * no more than where it is asked.
 */
export async function askReload({
  name,
  ops,
  dryRun,
}: {
  name: string;
  /** The origin of its ops server. */
  ops: string;
  dryRun: boolean;
}): Promise<AskedReload> {
  const url = new URL(dryRun ? "/reload?dry-run" : "/reload", ops);
  let answer: unknown;
  try {
    const response = await fetch(url, { method: "POST", signal: AbortSignal.timeout(answerTimeoutMs) });
    answer = await response.json();
  } catch {
    return unable(`no ${name} answers at ${ops}; where its ops server listens elsewhere: --ops ADDRESS`);
  }
  const read = answerSchema.safeParse(answer);
  if (!read.success) return unable(`what answers at ${ops} is no ${name} that can be reloaded`);
  return asText(name, read.data);
}

/**
 * Where the ops server of the process listens that runs with this configuration. A file with another fault may still tell it;
 * one that cannot be read, for these problems, leaves the port to `defaultPort`.
 */
export function opsOrigin({
  file,
  env,
  defaultPort,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  defaultPort: number;
}): { origin: string; problems: readonly string[] } {
  const { host, port, problems } = readListener({ file, env, defaultPort });
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return { origin: `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`, problems };
}

function readListener({ file, env, defaultPort }: Parameters<typeof opsOrigin>[0]) {
  const schema = z.looseObject({ ops: privateListener(defaultPort) });
  try {
    return { ...readConfig({ file, schema, env }).ops, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { host: "127.0.0.1", port: defaultPort, problems: error.problems };
  }
}

const changeSchema = z.object({ path: z.string(), from: z.unknown(), to: z.unknown() });

const answerSchema = z.union([
  z.object({ outcome: z.enum(["changed", "checked", "same"]), changes: z.array(changeSchema) }),
  z.object({ outcome: z.literal("refused"), problems: z.array(z.string()) }),
  z.object({ outcome: z.literal("too_soon"), retryAfterMs: z.number() }),
  // A problem document: the ops server itself has refused.
  z.object({ outcome: z.undefined().optional(), detail: z.string() }),
]);

function asText(name: string, answer: z.output<typeof answerSchema>): AskedReload {
  switch (answer.outcome) {
    case "refused":
      return {
        text: `The ${name} goes on with its old configuration:\n  ${answer.problems.join("\n  ")}\n`,
        isProblem: true,
        exitCode: exitCodes.unusable,
      };
    case "too_soon":
      return unable(`the ${name} has just been asked; try again in ${answer.retryAfterMs} ms`);
    case undefined:
      return unable(answer.detail);
    default:
      return {
        text: `${headingOf(answer)}\n${answer.changes.map(lineOf).join("")}`,
        isProblem: false,
        exitCode: exitCodes.done,
      };
  }
}

function headingOf({
  outcome,
  changes,
}: {
  outcome: "changed" | "checked" | "same";
  changes: unknown[];
}): string {
  if (outcome === "changed") return "Changed:";
  if (changes.length === 0) return "Nothing differs.";
  return "In order. A reload would change:";
}

function lineOf({ path, from, to }: z.output<typeof changeSchema>): string {
  if (from === undefined) return `  + ${path}: ${textOf(to)}\n`;
  if (to === undefined) return `  - ${path}: ${textOf(from)}\n`;
  return `  ${path}: ${textOf(from)} → ${textOf(to)}\n`;
}

function unable(why: string): AskedReload {
  return { text: `Not reloaded: ${why}\n`, isProblem: true, exitCode: exitCodes.failed };
}
