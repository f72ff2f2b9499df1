import { closeSync, existsSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { lockName, withChangeLock } from "../../../scripts/network/validators/change-lock.ts";
import { processIdentity } from "../../../scripts/processes/process-identity.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test("a lock that is made and not written yet is another's", async (t) => {
  const folder = testFolder(t);
  const lock = openSync(join(folder, lockName), "wx");
  const identity = await processIdentity(process.pid);
  setTimeout(() => {
    writeSync(lock, JSON.stringify({ pid: process.pid, identity, token: "another's" }));
    closeSync(lock);
  }, 50);
  await t.rejects(
    withChangeLock(folder, async () => {}),
    /are being changed already/,
  );
  t.ok(existsSync(join(folder, lockName)), "and stays its");
});

t.test("a lock that was never written whole holds nobody up", async (t) => {
  const folder = testFolder(t);
  writeFileSync(join(folder, lockName), "");
  t.equal(await withChangeLock(folder, async () => "done"), "done");
  t.notOk(existsSync(join(folder, lockName)));
});
