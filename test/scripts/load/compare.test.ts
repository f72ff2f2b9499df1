import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { runCompare } from "../../../scripts/load/compare/run-compare.ts";
import type { Report } from "../../../scripts/load/report/report.ts";
import { load, startProgram, writeMix } from "./load-rig.ts";
import { startStubGateway } from "./stub-gateway.ts";

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** A real report, and the same with other figures. */
async function writeReports(t: Test) {
  const stub = await startStubGateway(t);
  const mix = writeMix(
    t,
    "items: [{ call: eth_getBalance, params: [$account, latest], expect: quantity }]\n",
  );
  const [a, b] = [join(dirname(mix), "a.json"), join(dirname(mix), "b.json")];
  const line = ["--url", stub.url, "--mix", mix, "--rate", "50", "--duration", "300ms"];
  t.equal((await load([...line, "--json", a])).code, 0);
  const write = (file: string, p99: number, failed: number) => {
    const report: Mutable<Report> = JSON.parse(readFileSync(a, "utf8"));
    const latencyMs = { ...report.latencyMs, p50: 5, p90: 10, p99 };
    report.latencyMs = latencyMs;
    report.methods = report.methods.map((row) => ({ ...row, calls: 100, failed, latencyMs }));
    report.calls = { ...report.calls, total: 100, failed };
    report.rates = { ...report.rates, callsPerSecond: 50 };
    writeFileSync(file, JSON.stringify(report));
  };
  return { a, b, write };
}

t.test("two runs are compared in words: what got worse first, and small differences as none", async (t) => {
  const { a, b, write } = await writeReports(t);
  write(a, 20, 0);
  write(b, 30, 3);
  const worse = runCompare([a, b]);
  t.equal(worse.exitCode, 0);
  t.match(worse.out, /4 figures got worse:\n {2}all calls, p99: 20\.0 ms → 30\.0 ms \(\+50 %\)/);
  t.match(worse.out, /eth_getBalance, failed: 0 % → 3 % \(\+3 points\)/);
  t.match(worse.out, /Nothing got better/);
  t.match(worse.out, /all calls +p50 +5\.00 ms +5\.00 ms +\+0 % {2}about the same/);
  t.match(runCompare([b, a]).out, /Nothing got worse.*4 figures got better/s, "and the other way round");
  write(b, 21, 0);
  t.match(runCompare([a, b]).out, /Nothing got worse/, "1 ms of 20 is what two runs differ by");

  write(b, 30, 0);
  t.match(runCompare([a, b, "--max-worse", "20%"]), {
    exitCode: 99,
    err: /all calls, p99; eth_getBalance, p99/,
  });
  t.match(runCompare([a, b, "--max-worse", "60%"]), { exitCode: 0, err: "" });
  const program = await startProgram(t, ["compare", a, b, "--max-worse", "20%"]).ended;
  t.match(program, { code: 99, out: /2 figures got worse/ });
});

t.test("files that are no reports are refused in words", async (t) => {
  const { a } = await writeReports(t);
  const other = join(dirname(a), "other.json");
  const cases: [string, RegExp][] = [
    ["{", /other\.json is no JSON/],
    ["[]", /is no report of this version of the load tool/],
    ['{"format":"tollgate-load","version":1}', /is no report of this version .*version/],
  ];
  for (const [text, message] of cases) {
    writeFileSync(other, text);
    t.match(runCompare([a, other]), { exitCode: 2, out: "", err: message }, text);
  }
  t.match(runCompare([a, "/nowhere/b.json"]), { exitCode: 2, err: /b\.json cannot be read \(ENOENT\)/ });
  t.match(runCompare([a]), { exitCode: 2, err: /B\.json/ });
  t.match(runCompare([a, a, "--html", "/nowhere/c.html"]), { exitCode: 2, err: /cannot be written/ });
  t.match(runCompare(["--help"]), { exitCode: 0, out: /max-worse/ });
});
