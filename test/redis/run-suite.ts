import t from "tap";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { suites } from "./suites.ts";

type End = () => unknown;

/**
 * Runs files of tests with another server in the place of Redis (TOLLGATE_TEST_REDIS), one after the other in this process: a
 * cluster that one file has used serves the next, emptied. Each file's own things end with the file.
 *
 * Called at the top of a test file, never in a test: what the files say is said at the top, too.
 */
export async function runSuite(name: keyof typeof suites, variant: "valkey" | "cluster"): Promise<void> {
  if (variant === "valkey" && !(await hasValkey())) {
    t.test(
      `${name} over Valkey`,
      {
        skip: "valkey-server is not installed: sh scripts/processes/install-valkey.sh FOLDER, then put FOLDER/bin on PATH",
      },
      () => {},
    );
    return;
  }
  process.env["TOLLGATE_TEST_REDIS"] = variant;
  const { endClustersWith } = await import("../helpers/redis.ts");
  const clusters = collectEnds();
  endClustersWith(clusters);
  for (const load of suites[name]) {
    const file = collectEnds();
    // Where tap itself has a teardown, it ends the run as soon as nothing is left to do: before the next file.
    t.teardown = file.teardown;
    await load();
    await t.test("the file has ended", file.end);
  }
  await t.test("the clusters have ended", clusters.end);
  t.end();
}

/** In CI one that is missing fails the tests. */
async function hasValkey(): Promise<boolean> {
  if (process.env["CI"] !== undefined) return true;
  return (await findProgram({ names: ["valkey-server"], path: process.env["PATH"] })) !== undefined;
}

/** What has to be done in the end, the last first. */
function collectEnds() {
  const ends: End[] = [];
  return {
    teardown: (end: End) => void ends.unshift(end),
    async end() {
      for (const end of ends) await end();
    },
  };
}
