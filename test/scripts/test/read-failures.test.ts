import t from "tap";
import { readFailures } from "../../../scripts/test/read-failures.ts";

t.test("of a TAP stream the failures are shown with what is said of them, and nothing else", async (t) => {
  const stream = [
    "TAP version 14",
    "# Subtest: a behaviour",
    "    ok 1 - holds",
    "    not ok 2 - does not hold",
    "      ---",
    "      found: 1",
    "      ...",
    "    ok 3 - holds again",
    "    1..3",
    "not ok 1 - a behaviour # time=3ms",
    "1..1",
  ];
  t.same(readFailures(stream.join("\n")), [...stream.slice(3, 7), stream[9]]);
  t.same(readFailures("ok 1 - holds\n1..1\n"), []);
});

t.test("seeds are shown with a failure alone", async (t) => {
  const failed = ["# SCAN_SEED=7", "    # seed 8", "ok 1 - holds", "not ok 2 - does not hold", "1..2"];
  t.same(readFailures(failed.join("\n")), [failed[0], failed[1], failed[3]]);
  t.same(readFailures("# SCAN_SEED=7\nok 1 - holds\n1..1\n"), []);
});
