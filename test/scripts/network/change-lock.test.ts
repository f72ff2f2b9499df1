import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { lockName, withChangeLock } from "../../../scripts/network/validators/change-lock.ts";
import { testFolder } from "../../helpers/test-folder.ts";

t.test("of two that begin at the same moment one is refused, however close they are", async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const folder = testFolder(t);
    let underWay = 0;
    let most = 0;
    const both = [1, 2].map(() =>
      withChangeLock(folder, async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise((resolve) => setTimeout(resolve, 500));
        underWay -= 1;
      }),
    );
    const outcomes = await Promise.allSettled(both);
    t.same(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    t.equal(most, 1);
    t.notOk(existsSync(join(folder, lockName)));
  }
});

t.test("a lock that was never written whole holds nobody up", async (t) => {
  const folder = testFolder(t);
  writeFileSync(join(folder, lockName), "");
  t.equal(await withChangeLock(folder, async () => "done"), "done");
  t.notOk(existsSync(join(folder, lockName)));
});
