import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { EndSignal } from "../../../scripts/load/fleet.ts";
import { readOptions } from "../../../scripts/load/options.ts";
import type { Report } from "../../../scripts/load/report/report.ts";
import { runLoad } from "../../../scripts/load/run-load.ts";
import { testFolder } from "../../helpers/test-folder.ts";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

export type LoadOutcome = { code: number; out: string; err: string };

/** The load tool in this process, on a command line; without a warm-up unless the line has one. */
export async function load(
  args: readonly string[],
  {
    env = {},
    ended = new Promise<EndSignal>(() => {}),
  }: { env?: Record<string, string>; ended?: Promise<EndSignal> } = {},
): Promise<LoadOutcome> {
  let out = "";
  let err = "";
  const read = readOptions([...args, ...(args.includes("--warmup") ? [] : ["--warmup", "0"])]);
  if (read.kind !== "run") return { code: read.kind === "help" ? 0 : 2, out, err: read.text };
  const code = await runLoad({
    options: read.options,
    env: { TOLLGATE_KEY: "a-key-for-tests", ...env },
    output: {
      print: (text) => {
        out += text;
      },
      note: (text) => {
        err += text;
      },
      isTerminal: false,
    },
    ended,
  });
  return { code, out, err };
}

/** The same, and what `--json` gives of it. */
export async function loadReport(
  args: readonly string[],
  options: Parameters<typeof load>[1] = {},
): Promise<LoadOutcome & { report: Report }> {
  const outcome = await load([...args, "--json", "-"], options);
  if (outcome.out === "") throw new Error(`no report: ${outcome.err}`);
  return { ...outcome, report: JSON.parse(outcome.out) };
}

/** Writes a mix beside the test and gives its path. */
export function writeMix(t: Test, text: string): string {
  const file = join(testFolder(t), "mix.yaml");
  writeFileSync(file, text);
  return file;
}

/** `scripts/load/main.ts` in a process of its own, killed when the test ends. */
export function startProgram(t: Test, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(root, "scripts/load/main.ts"), ...args],
    { cwd: root, env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<LoadOutcome>((resolve) => {
    child.once("close", (code) => resolve({ code: code ?? -1, out, err }));
  });
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { pid: child.pid, kill: (signal: NodeJS.Signals) => child.kill(signal), ended, noted: () => err };
}
