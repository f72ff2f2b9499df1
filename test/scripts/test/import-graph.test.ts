import t from "tap";
import { affectedTests, isQuick } from "../../../scripts/test/choose-tests.ts";
import { createImportGraph } from "../../../scripts/test/import-graph.ts";

const graphOf = (files: Readonly<Record<string, string>>) =>
  createImportGraph({ files: Object.keys(files), read: (file) => files[file] ?? "" });

t.test("what a file imports is followed, however it is written", async (t) => {
  const graph = graphOf({
    "test/all.test.ts": [
      'import t from "tap";',
      'import { one } from "../lib/one.ts";',
      "import {",
      "  two,",
      "  type Two,",
      '} from "../lib/two.ts";',
      'import "../lib/three.ts";',
      'export { four } from "../lib/four.ts";',
      'const five = await import("../lib/five.ts");',
      'import type { Six } from "../lib/six.ts";',
      'import type {\n  Seven } from "../lib/seven.ts";',
    ].join("\n"),
    "lib/one.ts": 'import { deep } from "./deep.ts";',
    "lib/deep.ts": 'import { spawn } from "node:child_process";',
    ...Object.fromEntries(
      ["two", "three", "four", "five", "six", "seven"].map((name) => [`lib/${name}.ts`, ""]),
    ),
  });
  t.same(
    [...graph.importsOf("test/all.test.ts")].sort(),
    ["deep", "five", "four", "one", "three", "two"]
      .map((name) => `lib/${name}.ts`)
      .concat("test/all.test.ts"),
    "types run nothing",
  );
  t.same([...graph.packagesOf("test/all.test.ts")].sort(), ["node:child_process", "tap"]);
});

t.test("two files that import each other end the search", async (t) => {
  const graph = graphOf({ "a.ts": 'import "./b.ts";', "b.ts": 'import "./a.ts";' });
  t.same([...graph.importsOf("a.ts")], ["a.ts", "b.ts"]);
  t.same([...graph.changedBy(["a.ts"])].sort(), ["a.ts", "b.ts"]);
});

t.test(
  "a quoted path counts from the file's folder and from the root, a folder as all that is in it",
  async (t) => {
    const graph = graphOf({
      "config/gateway.yaml": "",
      "gateway/main.ts": "",
      "test/vectors/a.json": "",
      "test/vectors/deep/b.json": "",
      "test/here.py": "",
      "test/reads.ts": [
        'new URL("../config/gateway.yaml", import.meta.url);',
        'join(root, "gateway/main.ts");',
        "new URL(`vectors/${name}`, import.meta.url);",
        'new URL("here.py", import.meta.url);',
      ].join("\n"),
      "test/root.ts": 'new URL("../", import.meta.url); new URL("..", import.meta.url);',
      "test/comment.ts": "/** As `config/gateway.yaml` says. */\n// `gateway/main.ts`\n",
    });
    for (const file of [
      "config/gateway.yaml",
      "gateway/main.ts",
      "test/vectors/a.json",
      "test/vectors/deep/b.json",
      "test/here.py",
    ]) {
      t.same([...graph.changedBy([file])].sort(), [file, "test/reads.ts"].sort(), file);
    }
  },
);

const house = graphOf({
  "README.md": "",
  "package.json": "",
  "biome.json": "",
  "docker/compose.yaml": "",
  "config/new.yaml": "",
  "config/gateway.yaml": "",
  "lib/unused.ts": "",
  "lib/values.ts": "",
  "test/values.test.ts": 'import "../lib/values.ts";',
  "test/reads.test.ts": 'import "./gateway.ts"; read("../config/gateway.yaml");',
  "test/gateway.ts": 'import { spawn } from "node:child_process";',
  "test/docker/up.test.ts": "",
});
const tests = [...house.files].filter((file) => file.endsWith(".test.ts"));
const affected = (...changed: string[]) => {
  const { tests: chosen, unknown } = affectedTests({ graph: house, tests, changed });
  return { chosen: [...chosen].sort(), unknown };
};

t.test("a test is quick while nothing that it imports can start a program", async (t) => {
  t.same(
    tests.filter((test) => isQuick(house, test)),
    ["test/values.test.ts", "test/docker/up.test.ts"],
  );
});

t.test("a change runs the tests that it reaches, and no others", async (t) => {
  t.same(affected("lib/values.ts"), { chosen: ["test/values.test.ts"], unknown: [] });
  t.same(affected("config/gateway.yaml"), { chosen: ["test/reads.test.ts"], unknown: [] });
  t.same(affected("docker/compose.yaml"), { chosen: ["test/docker/up.test.ts"], unknown: [] });
  t.same(affected("lib/unused.ts", "README.md", "biome.json"), { chosen: [], unknown: [] });
  t.same(affected("test/values.test.ts", "lib/values.ts"), { chosen: ["test/values.test.ts"], unknown: [] });
});

t.test("what no test is known to read runs everything and is named", async (t) => {
  t.same(affected("config/new.yaml", "lib/values.ts"), {
    chosen: tests.toSorted(),
    unknown: ["config/new.yaml"],
  });
  t.same(affected("package.json"), { chosen: tests.toSorted(), unknown: [] });
});
