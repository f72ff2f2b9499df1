import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readReport, repositoryFolder, runForge } from "./forge.ts";
import type { PlantedFault } from "./planted-faults.ts";

const contracts = "genesis/contracts";
const tests = "test/genesis/contracts";

/** Enough for each planted fault, and few: most of the time is the compiler's. */
const fewRuns = { FOUNDRY_FUZZ_RUNS: "32", FOUNDRY_INVARIANT_RUNS: "2", FOUNDRY_INVARIANT_DEPTH: "50" };

/** Tests a copy of the contracts with the fault in it: about 3 s of one core. No optimizer, which would double that. */
export async function tryFault({
  from,
  to,
}: PlantedFault): Promise<{ foundBy: readonly string[] } | { missed: string }> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-fault-"));
  try {
    await Promise.all(
      [contracts, tests].map((path) =>
        cp(join(repositoryFolder, path), join(folder, path), { recursive: true }),
      ),
    );
    await symlink(join(repositoryFolder, "node_modules"), join(folder, "node_modules"));
    await mkdir(join(folder, "scripts"));
    await symlink(join(repositoryFolder, "scripts/contracts"), join(folder, "scripts/contracts"));
    const source = join(folder, contracts, "FeeCollector.sol");
    const text = await readFile(source, "utf8");
    if (text.split(from).length !== 2) return { missed: `"${from}" does not stand in the source once` };
    await writeFile(
      source,
      text.replace(from, () => to),
    );
    return await findIn(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findIn(folder: string): Promise<{ foundBy: readonly string[] } | { missed: string }> {
  const { stdout, stderr } = await runForge({
    folder,
    args: ["test", "--json", "--threads", "2", "--no-match-test", "gas_limit"],
    env: {
      ...fewRuns,
      FOUNDRY_OPTIMIZER: "false",
      // Beside the sources, so that nothing is shared with other runs.
      FOUNDRY_OUT: "forge/out",
      FOUNDRY_CACHE_PATH: "forge/cache",
    },
  });
  const report = readReport(stdout);
  if (report === undefined) return { missed: `forge did not come to testing:\n${stderr || stdout}` };
  return report.failed.length > 0 ? { foundBy: report.failed } : { missed: "all tests passed" };
}
