import type { Test } from "tap";

/**
 * A folder of a test's own, as `t.testdir` makes it, removed when all that the test started has ended. By itself tap removes it
 * before the teardowns where it was made before the first of them: under a PostgreSQL that still runs.
 */
export function testFolder(
  t: Pick<Test, "teardown" | "testdir">,
  content?: Parameters<Test["testdir"]>[0],
): string {
  t.teardown(() => {});
  return t.testdir(content);
}
