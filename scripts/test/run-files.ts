import type { ChildProcess } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createLoadGate, type LoadGate } from "./load-gate.ts";
import { readFailures } from "./read-failures.ts";

export type FileOutcome = {
  file: string;
  ok: boolean;
  /** It failed beside other files and passed alone. */
  flaky: boolean;
  seconds: number;
  /** Of a processor, with those of the programs that it started; undefined where it was killed. */
  cpuSeconds: number | undefined;
};

/** What a file took before. */
export type FileCost = { seconds: number; cpuSeconds: number };

const root = fileURLToPath(new URL("../../", import.meta.url));
const preload = new URL("cached-types.js", import.meta.url).href;
const tellCpu = new URL("tell-cpu.js", import.meta.url).href;
const compileCache = fileURLToPath(new URL("../../node_modules/.cache/tollgate-compiled/", import.meta.url));
/** By the clock of a busy machine. */
const fileWithinSeconds = 600;
/**
 * As much as the processors can do, and somewhat more: what a file took is an average of its time. In CI none more: a run that
 * nobody waits for should fail for what is wrong, not for being busy.
 */
const isCi = process.env["CI"] !== undefined;
const jobsDefault = availableParallelism() + (isCi ? 0 : 0.5);
/** Each may have a browser, a Redis and a PostgreSQL of its own. In CI the average of a file is not what it takes at worst. */
const filesMaxPerProcessor = isCi ? 1 : 4;
/** Of a file that is short or new: it starts, which waits for nothing, and then does what it does. */
const shareUnknown = 0.75;
/** More that fail at once are no accident of a busy machine. */
const retriedFilesMax = 5;

/**
 * Runs test files, each in a process of its own, the longest first, and so many at a time as keep the processors busy: some
 * wait most of their time, some need more than one. It prints a line for each as it ends; of one that failed, what failed and
 * what it wrote. `TAP_OUTPUT_FILE` gets the whole TAP stream, with the totals in its last lines.
 *
 * With `retry` a file that failed runs once more when nothing runs beside it, up to five files: what fails twice is broken,
 * what then passes is told as flaky, with its first failure above. Nobody sits before a run in CI to do that by hand.
 *
 * They run without tap's own loader hooks (coverage and mocks, which no test uses) and with types stripped once: a
 * process costs a third of what it costs under `npx tap`.
 */
export async function runFiles({
  files,
  costOf,
  jobs = jobsDefault,
  retry = isCi,
}: {
  files: readonly string[];
  costOf: (file: string) => FileCost | undefined;
  /** As many processors are kept busy. */
  jobs?: number;
  retry?: boolean;
}): Promise<readonly FileOutcome[]> {
  t.pipe(createWriteStream(process.env["TAP_OUTPUT_FILE"] ?? "/dev/null"));
  t.register();
  t.setTimeout(0);
  // The gate lets them in.
  t.jobs = files.length;
  const gate = createLoadGate({ processors: jobs, filesMax: Math.ceil(jobs) * filesMaxPerProcessor });
  const loadOf = (file: string) => {
    const cost = costOf(file);
    // A docker daemon and its containers are none of a test's own processes.
    if (cost === undefined || file.startsWith("test/docker/")) return shareUnknown;
    // Of one that needs both processors for a while the other half is somebody else's.
    return Math.min(cost.cpuSeconds / cost.seconds, 1);
  };
  const running = new Set<ChildProcess>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      for (const child of running) child.kill(signal);
      process.exit(1);
    });
  }
  const secondsOf = (file: string) => costOf(file)?.seconds ?? 0;
  const longestFirst = files.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  const outcomes = await Promise.all(
    longestFirst.map((file) => runInTurn({ file, gate, load: loadOf(file), running })),
  );
  if (retry) await retryFailed(outcomes, running);
  t.end();
  const { total, pass, fail, skip } = t.counts;
  const cpuSeconds = outcomes.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0);
  console.log(
    `${total} assertions in ${files.length} files: ${pass} passed, ${fail} failed, ${skip} skipped; ${cpuSeconds.toFixed(0)} s CPU`,
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

async function runInTurn({
  file,
  gate,
  load,
  running,
}: {
  file: string;
  gate: LoadGate;
  load: number;
  running: Set<ChildProcess>;
}): Promise<FileOutcome> {
  const leave = await gate.enter(load);
  try {
    return await runFile(file, running);
  } finally {
    leave();
  }
}

async function runFile(file: string, running: Set<ChildProcess>): Promise<FileOutcome> {
  const written = { stdout: "", stderr: "" };
  const folder = mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const cpuFile = join(folder, "cpu");
  const test = t.spawn(
    // tap adds a preload of its own to NODE_OPTIONS, for a coverage that nobody asks for: 0.3 s of the processor in each
    // Node.js process that a test starts. env(1) puts ours in its place, and becomes the test.
    "env",
    [
      `NODE_OPTIONS=${nodeOptions()}`,
      process.execPath,
      "--disable-warning=ExperimentalWarning",
      `--import=${tellCpu}`,
      file,
    ],
    {
      cwd: root,
      buffered: true,
      timeout: fileWithinSeconds * 1000,
      stdio: "pipe",
      // The programs that a test starts with its own environment start as fast.
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: compileCache,
        // Else tap in the file itself ends it after 30.
        TAP_TIMEOUT: String(fileWithinSeconds),
        TOLLGATE_CPU_FILE: cpuFile,
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
    cpuSeconds: readCpuSeconds(cpuFile),
  };
  rmSync(folder, { recursive: true, force: true });
  const { total = 0, skip = 0 } = subtest?.counts ?? {};
  const skipped = skip > 0 ? `, ${skip} skipped` : "";
  const took = `${outcome.seconds.toFixed(1)} s, ${outcome.cpuSeconds?.toFixed(1) ?? "?"} s CPU`;
  console.log(`${outcome.ok ? "ok  " : "FAIL"} ${file} (${total}${skipped}) ${took}`);
  if (!outcome.ok) {
    const lines = [...readFailures(written.stdout), ...written.stderr.trimEnd().split("\n")];
    for (const line of lines) console.log(`     ${line}`);
  }
  return outcome;
}

function readCpuSeconds(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function nodeOptions(): string {
  return `${process.env["NODE_OPTIONS"] ?? ""} --import=${preload}`.trim();
}
