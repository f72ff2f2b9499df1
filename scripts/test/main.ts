import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { affectedTests, isQuick } from "./choose-tests.ts";
import { readOptions, type TestOptions } from "./options.ts";
import { changedFiles, readRepository } from "./repository.ts";
import { type FileCost, type FileOutcome, runFiles } from "./run-files.ts";

type Choice = { tests: readonly string[]; leftOut: string };

const secondsFile = fileURLToPath(new URL("../../test/seconds.json", import.meta.url));
/** Shorter ones need no place in the order. */
const recordedSecondsMin = 3;

const read = readOptions(process.argv.slice(2));
if (read.kind === "run") process.exitCode = await main(read.options);
else if (read.kind === "help") process.stdout.write(read.text);
else {
  process.stderr.write(read.text);
  process.exitCode = 2;
}

async function main(options: TestOptions): Promise<number> {
  const { mode, list, jobs } = options;
  const costs = readCosts();
  const { tests, leftOut } = choose(options, costs);
  if (list) {
    for (const test of tests) console.log(test);
    console.log(leftOut);
    return 0;
  }
  // The rest of npm test has checked before.
  const checked = mode === "all" || mode === "files" ? Promise.resolve(true) : check();
  const outcomes =
    tests.length === 0
      ? []
      : await runFiles({
          files: tests,
          costOf: (file) => costs[file],
          ...(jobs === undefined ? {} : { jobs }),
        });
  if (options.record) record(outcomes);
  const failed = outcomes.filter(({ ok }) => !ok).map(({ file }) => file);
  for (const { file, flaky } of outcomes)
    if (flaky) console.log(`flaky: ${file} failed once, and passed alone`);
  for (const file of failed) console.log(`failed: ${file}`);
  if (!(await checked)) console.log("failed: npm run check");
  console.log(leftOut);
  return failed.length === 0 && (await checked) ? 0 : 1;
}

function choose({ mode, base, paths }: TestOptions, costs: Readonly<Record<string, FileCost>>): Choice {
  const changed = mode === "affected" ? changedFiles(base) : [];
  const { graph, tests } = readRepository(changed);
  const left = (chosen: readonly string[], why: string) =>
    `left out: ${tests.length - chosen.length} of ${tests.length} test files${why} (npm test runs all)`;
  if (mode === "quick") {
    const chosen = tests.filter((test) => isQuick(graph, test) && costs[test] === undefined);
    const why = `, which can start programs or take ${recordedSecondsMin} s and more`;
    return { tests: chosen, leftOut: left(chosen, why) };
  }
  if (mode === "affected") {
    const affected = affectedTests({ graph, tests, changed });
    const chosen = [...affected.tests];
    if (affected.unknown.length > 0) {
      return {
        tests: chosen,
        leftOut: `left out: nothing, since no test is known to read ${affected.unknown.join(", ")}`,
      };
    }
    return { tests: chosen, leftOut: left(chosen, `, which ${changed.length} changed files do not reach`) };
  }
  if (mode === "files") {
    const folders = paths.map((path) => path.replace(/^\.\/|\/+$/g, ""));
    const chosen = tests.filter((test) =>
      folders.some((path) => test === path || test.startsWith(`${path}/`)),
    );
    return { tests: chosen, leftOut: left(chosen, "") };
  }
  return { tests, leftOut: "left out: nothing" };
}

/** `npm run check` beside the tests; it prints only what is wrong. */
function check(): Promise<boolean> {
  const child = spawn("npm", ["run", "--silent", "check"], { stdio: ["ignore", "pipe", "pipe"] });
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      written += text;
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code) => {
      if (code !== 0) console.log(written);
      resolve(code === 0);
    });
  });
}

function readCosts(): Record<string, FileCost> {
  return existsSync(secondsFile) ? JSON.parse(readFileSync(secondsFile, "utf8")) : {};
}

/** Files that did not run keep what they have. */
function record(outcomes: readonly FileOutcome[]): void {
  const costs = Object.entries(readCosts()).filter(([name]) => outcomes.every(({ file }) => file !== name));
  for (const { file, seconds, cpuSeconds = 0 } of outcomes) {
    if (seconds >= recordedSecondsMin) costs.push([file, { seconds, cpuSeconds }]);
  }
  const lines = costs
    .toSorted(([, one], [, other]) => other.seconds - one.seconds)
    .map(([file, { seconds, cpuSeconds }]) => {
      const cost = `{ "seconds": ${Math.round(seconds)}, "cpuSeconds": ${Math.round(cpuSeconds)} }`;
      return `  ${JSON.stringify(file)}: ${cost}`;
    });
  writeFileSync(secondsFile, `{\n${lines.join(",\n")}\n}\n`);
}
