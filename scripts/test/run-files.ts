import type { ChildProcess } from "node:child_process";
import { createWriteStream } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import t from "tap";
import { readFailures } from "./read-failures.ts";

export type FileOutcome = {
  file: string;
  ok: boolean;
  /** It failed beside other files and passed alone. */
  flaky: boolean;
  seconds: number;
};

const root = fileURLToPath(new URL("../../", import.meta.url));
const preload = new URL("cached-types.js", import.meta.url).href;
const compileCache = fileURLToPath(new URL("../../node_modules/.cache/tollgate-compiled/", import.meta.url));
/** By the clock of a busy machine. */
const fileWithinSeconds = 300;
/**
 * A file more than there are processors, since tests wait some of their time. In CI none more: a run that nobody waits for
 * should fail for what is wrong, not for being busy.
 */
const jobsDefault = availableParallelism() + (process.env["CI"] === undefined ? 1 : 0);
/** More that fail at once are no accident of a busy machine. */
const retriedFilesMax = 3;

/**
 * Runs test files, each in a process of its own, the longest first, and prints a line for each as it ends; of one that
 * failed, what failed and what it wrote. `TAP_OUTPUT_FILE` gets the whole TAP stream, with the totals in its last lines.
 *
 * With `retry` a file that failed runs once more when nothing runs beside it, up to three files: what fails twice is broken,
 * what then passes is told as flaky, with its first failure above. Nobody sits before a run in CI to do that by hand.
 *
 * They run without tap's own loader hooks (coverage and mocks, which no test uses) and with types stripped once: a
 * process costs a third of what it costs under `npx tap`.
 */
export async function runFiles({
  files,
  secondsOf,
  jobs = jobsDefault,
  retry = process.env["CI"] !== undefined,
}: {
  files: readonly string[];
  /** What a file took before. */
  secondsOf: (file: string) => number;
  jobs?: number;
  retry?: boolean;
}): Promise<readonly FileOutcome[]> {
  t.pipe(createWriteStream(process.env["TAP_OUTPUT_FILE"] ?? "/dev/null"));
  t.register();
  t.setTimeout(0);
  t.jobs = jobs;
  const running = new Set<ChildProcess>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      for (const child of running) child.kill(signal);
      process.exit(1);
    });
  }
  const longestFirst = files.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  const outcomes = await Promise.all(longestFirst.map((file) => runFile(file, running)));
  if (retry) await retryFailed(outcomes, running);
  t.end();
  const { total, pass, fail, skip } = t.counts;
  console.log(
    `${total} assertions in ${files.length} files: ${pass} passed, ${fail} failed, ${skip} skipped`,
  );
  return outcomes;
}

async function retryFailed(outcomes: readonly FileOutcome[], running: Set<ChildProcess>): Promise<void> {
  const failed = outcomes.filter(({ ok }) => !ok);
  if (failed.length > retriedFilesMax) return;
  for (const outcome of failed) {
    console.log(`${outcome.file} runs once more, alone:`);
    const { ok } = await runFile(outcome.file, running);
    outcome.ok = ok;
    outcome.flaky = ok;
  }
}

async function runFile(file: string, running: Set<ChildProcess>): Promise<FileOutcome> {
  const written = { stdout: "", stderr: "" };
  const test = t.spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", file],
    {
      cwd: root,
      buffered: true,
      timeout: fileWithinSeconds * 1000,
      stdio: "pipe",
      // The programs that a test starts with its own environment start as fast.
      env: {
        ...process.env,
        NODE_OPTIONS: nodeOptions(),
        NODE_COMPILE_CACHE: compileCache,
        // Else tap in the file itself ends it after 30.
        TAP_TIMEOUT: String(fileWithinSeconds),
      },
    },
    file,
  );
  const { subtest } = test;
  let beganMs = performance.now();
  const listen = (child: ChildProcess) => {
    beganMs = performance.now();
    running.add(child);
    child.once("exit", () => running.delete(child));
    for (const name of ["stdout", "stderr"] as const) {
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        written[name] += text;
      });
    }
  };
  if (subtest?.proc) listen(subtest.proc);
  else subtest?.once("process", listen);

  const results = await test;
  const outcome = {
    file,
    ok: results?.ok === true,
    flaky: false,
    seconds: (performance.now() - beganMs) / 1000,
  };
  const { total = 0, skip = 0 } = subtest?.counts ?? {};
  const skipped = skip > 0 ? `, ${skip} skipped` : "";
  console.log(`${outcome.ok ? "ok  " : "FAIL"} ${file} (${total}${skipped}) ${outcome.seconds.toFixed(1)} s`);
  if (!outcome.ok) {
    const lines = [...readFailures(written.stdout), ...written.stderr.trimEnd().split("\n")];
    for (const line of lines) console.log(`     ${line}`);
  }
  return outcome;
}

function nodeOptions(): string {
  return `${process.env["NODE_OPTIONS"] ?? ""} --import=${preload}`.trim();
}
