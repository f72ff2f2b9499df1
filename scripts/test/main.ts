import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { affectedTests, isQuick } from "./choose-tests.ts";
import { changedFiles, readRepository } from "./repository.ts";
import { type FileCost, type FileOutcome, runFiles } from "./run-files.ts";

const usage = `Usage: npm test
       npm run test:quick
       npm run test:affected [-- --base BRANCH]
       npm run test:files -- PATH...

npm test runs the types, the linter and all tests, test:quick those that start no program (no Redis, anvil, browser,
docker), test:affected those that the changes since BRANCH (main) can have broken, test:files those of files and folders.
Where CI is set, up to three files that failed run once more, alone; what then passes is told as flaky.

  --list     print the test files and run nothing
  --jobs N   as many files at a time as keep N processors busy, instead of those that there are
  --record   keep what each file took (test/seconds.json): the longest begin first, with others while they wait
`;

type Choice = { tests: readonly string[]; leftOut: string };

const secondsFile = fileURLToPath(new URL("../../test/seconds.json", import.meta.url));
/** Shorter ones need no place in the order. */
const recordedSecondsMin = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: "string", default: "main" },
    list: { type: "boolean", default: false },
    jobs: { type: "string" },
    record: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const [mode = "all", ...paths] = positionals;
if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  const { tests, leftOut } = choose();
  if (values.list) {
    for (const test of tests) console.log(test);
    console.log(leftOut);
    return 0;
  }
  // The rest of npm test has checked before.
  const checked = mode === "all" || mode === "files" ? Promise.resolve(true) : check();
  const costs = readCosts();
  const outcomes =
    tests.length === 0
      ? []
      : await runFiles({
          files: tests,
          costOf: (file) => costs[file],
          ...(values.jobs === undefined ? {} : { jobs: Number(values.jobs) }),
        });
  if (values.record) record(outcomes);
  const failed = outcomes.filter(({ ok }) => !ok).map(({ file }) => file);
  for (const { file, flaky } of outcomes)
    if (flaky) console.log(`flaky: ${file} failed once, and passed alone`);
  for (const file of failed) console.log(`failed: ${file}`);
  if (!(await checked)) console.log("failed: npm run check");
  console.log(leftOut);
  return failed.length === 0 && (await checked) ? 0 : 1;
}

function choose(): Choice {
  const changed = mode === "affected" ? changedFiles(values.base) : [];
  const { graph, tests } = readRepository(changed);
  const left = (chosen: readonly string[], why: string) =>
    `left out: ${tests.length - chosen.length} of ${tests.length} test files${why} (npm test runs all)`;
  if (mode === "quick") {
    const chosen = tests.filter((test) => isQuick(graph, test));
    return { tests: chosen, leftOut: left(chosen, ", which can start programs") };
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
