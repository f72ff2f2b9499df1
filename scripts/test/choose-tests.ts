import { type ImportGraph, isScript } from "./import-graph.ts";

/** Modules by which a test starts what is not in its own process: Redis, anvil, Chromium, docker, other languages. */
const startsPrograms = ["node:child_process", "playwright-core"];

/** Whether nothing that a test imports can start another program. */
export function isQuick(graph: ImportGraph, test: string): boolean {
  const packages = graph.packagesOf(test);
  return !startsPrograms.some((name) => packages.has(name));
}

export type Affected = {
  /** The tests that the changes can have broken. */
  tests: ReadonlySet<string>;
  /** Changed files of which nothing is known: they may have broken any test. */
  unknown: readonly string[];
};

/** Files that no import leads to, by what their paths match: the tests that they can break. The first that matches counts. */
const byPath: readonly { path: RegExp; tests: RegExp | "none" }[] = [
  { path: /^(package|package-lock)\.json$|^\.taprc$/, tests: /./ },
  // The image has all of docker/ and what it copies; the tests read it by folder.
  { path: /^docker\//, tests: /^test\/(docker|scripts\/network)\// },
  { path: /^test\/docker\//, tests: /^test\/docker\// },
  { path: /^test\/vectors\//, tests: /./ },
  // The compiler, the linter and CI look after these.
  { path: /^(tsconfig|biome)\.json$|\/tsconfig\.json$|^\.ci\/|^\.gitignore$/, tests: "none" },
  { path: /\.md$/, tests: "none" },
];

/** Which tests a change can have broken: by imports, by the names of files in quoted texts, then by `byPath`. */
export function affectedTests({
  graph,
  tests,
  changed,
}: {
  graph: ImportGraph;
  tests: readonly string[];
  changed: readonly string[];
}): Affected {
  const affected = new Set<string>();
  const unknown: string[] = [];
  for (const file of changed) {
    const reached = graph.changedBy([file]);
    const rule = byPath.find(({ path }) => path.test(file));
    const matched = tests.filter(
      (test) => reached.has(test) || (rule !== undefined && rule.tests !== "none" && rule.tests.test(test)),
    );
    for (const test of matched) affected.add(test);
    if (matched.length === 0 && rule === undefined && !isScript(file)) unknown.push(file);
  }
  return unknown.length === 0 ? { tests: affected, unknown } : { tests: new Set(tests), unknown };
}
