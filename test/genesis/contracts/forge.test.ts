import t from "tap";
import { readReport, runForge } from "../../../scripts/contracts/forge.ts";
import { forgeRuns, fuzzRunsDefault, fuzzRunsInCi } from "../../../scripts/contracts/test.ts";

const runs = (process.env["CI"] ?? "") === "" ? fuzzRunsDefault : fuzzRunsInCi;

t.test(`the contracts hold what they promise, each property ${runs} times`, async (t) => {
  const seed = process.env["FORGE_SEED"] ?? `0x${Math.floor(Math.random() * 2 ** 48).toString(16)}`;
  t.comment(`FORGE_SEED=${seed}`);
  const args = ["test", "--json", "--threads", "2", "--fuzz-seed", seed];
  const { stdout, stderr } = await runForge({ args, env: forgeRuns(runs) });
  const report = readReport(stdout);
  t.same(report?.failed, [], stderr);
  t.equal(report?.passed.filter((name) => name.startsWith("invariant_")).length, 4);
  t.ok((report?.passed.length ?? 0) > 30, `${report?.passed.length} tests`);
});
