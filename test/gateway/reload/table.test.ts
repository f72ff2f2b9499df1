import t from "tap";
import { configSchema } from "../../../gateway/config.ts";
import { live } from "../../../gateway/reload.ts";
import { reloadTable } from "../../../gateway/reload-table.ts";
import { namesOf } from "../../../lib/reload/reload-table.ts";
import { reloadTableProblems, settingNames } from "../../helpers/setting-names.ts";

t.test("each setting of the file is either changed by a reload or needs a restart", async (t) => {
  t.same(reloadTableProblems(reloadTable, settingNames(configSchema)), []);
});

t.test("the table tells what the reload takes", async (t) => {
  // `methods` is what stands in `methodsFile`.
  t.same(namesOf(reloadTable.live).toSorted(), live.filter((name) => name !== "methods").toSorted());
});
