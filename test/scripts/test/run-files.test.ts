import { spawnSync } from "node:child_process";
import { join } from "node:path";
import t, { type Test } from "tap";
import { testFolder } from "../../helpers/test-folder.ts";

const module = new URL("../../../scripts/test/run-files.ts", import.meta.url).href;
const tap = import.meta.resolve("tap");

/** Fails as often as it is told to; each time leaves a line in a file beside it. */
const failing = (times: number) => `
  import { appendFileSync, readFileSync } from "node:fs";
  import t from ${JSON.stringify(tap)};
  const runs = new URL("runs", import.meta.url);
  appendFileSync(runs, "run\\n");
  t.ok(readFileSync(runs, "utf8").split("\\n").length - 1 > ${times});
`;

/** Runs files in a process of their own, as npm test does: tap knows one root test a process. */
function run(t: Test, { failures, retry = true }: { failures: Record<string, number>; retry?: boolean }) {
  const folder = testFolder(
    t,
    Object.fromEntries(
      Object.entries(failures).map(([name, times]) => [name, { "x.test.js": failing(times) }]),
    ),
  );
  const files = Object.keys(failures).map((name) => join(folder, name, "x.test.js"));
  const script = `
    import { runFiles } from ${JSON.stringify(module)};
    const files = ${JSON.stringify(files)};
    const outcomes = await runFiles({ files, costOf: () => undefined, jobs: 2, retry: ${retry} });
    console.log(JSON.stringify(outcomes.map(({ ok, flaky }) => [ok, flaky])));
    process.exit();
  `;
  const { stdout } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script],
    { encoding: "utf8" },
  );
  const lines = stdout.trimEnd().split("\n");
  return { outcomes: JSON.parse(lines.at(-1) ?? ""), lines };
}

t.test("a file that failed runs once more, alone: it is flaky, or it fails", (t) => {
  const { outcomes, lines } = run(t, { failures: { passes: 0, flaky: 1, broken: 2 } });
  t.strictSame(outcomes, [
    [true, false],
    [true, true],
    [false, false],
  ]);
  const again = lines.findIndex((line) => line.endsWith("runs once more, alone:"));
  const before = lines.slice(0, again).filter((line) => line.startsWith("FAIL"));
  t.equal(before.length, 2, "the first failure of each is told");
  t.match(lines[again], "flaky/x.test.js");
  t.match(lines[again + 1], /^ok .*flaky/);
  t.end();
});

t.test("not without retry, and not where more than five failed", (t) => {
  t.strictSame(run(t, { failures: { flaky: 1 }, retry: false }).outcomes, [[false, false]]);
  const six = run(t, { failures: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 } });
  t.strictSame(six.outcomes, Array(6).fill([false, false]));
  t.end();
});
