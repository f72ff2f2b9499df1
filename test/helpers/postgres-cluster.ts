import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findPostgres } from "../../scripts/processes/find-postgres.ts";
import { processIdentity } from "../../scripts/processes/process-identity.ts";
import { startPostgres } from "../../scripts/processes/start-postgres.ts";
import { startParentWatch } from "../../scripts/processes/watch-parent.ts";

/**
 * The PostgreSQL that the test files of a run share, as a program: `postgres-cluster.ts FOLDER PID` writes its address
 * (or why there is none) into FOLDER, and ends with the process PID, which removes all of it.
 */
const [folder = "", runner = ""] = process.argv.slice(2);
const endWithinMs = 10_000;
const lookEveryMs = 500;

const identity = await processIdentity(Number(runner));
const watch = await startParentWatch();
const started = await start();
await say(JSON.stringify("failed" in started ? { failed: started.failed } : { url: started.url }));
while (identity !== undefined && (await processIdentity(Number(runner))) === identity)
  await sleep(lookEveryMs);
if ("child" in started) {
  await started.child.stop({ withinMs: endWithinMs });
  watch.forget(started.child.pid);
}
await watch.stop();
await rm(folder, { recursive: true, force: true });

async function start() {
  const programs = await findPostgres();
  if ("missing" in programs) return { failed: programs.missing };
  return startPostgres({
    programs,
    env: process.env,
    folder,
    fsync: "off",
    onLine: () => {},
    onChild: ({ pid }) => watch.remember(pid),
  });
}

/** Whole or not there at all: others wait for the file. */
async function say(text: string): Promise<void> {
  const file = join(folder, "cluster.json");
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
