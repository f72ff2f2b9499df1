import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { ConfigError, readConfig } from "../../../lib/config/read-config.ts";
import { testFolder } from "../../helpers/test-folder.ts";

const schema = z.strictObject({
  name: z.string().default("none"),
  port: z.int("a port was expected"),
  on: z.boolean().optional(),
  list: z.array(z.strictObject({ url: z.string() })).default([]),
});

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

t.test("reading a configuration", async (t) => {
  const file = join(testFolder(t), "c.yaml");
  const read = (text: string, env: Record<string, string> = {}, overrides = {}) => {
    writeFileSync(file, text);
    return readConfig({ file, schema, env, overrides });
  };

  t.test("values come from the environment anywhere in a value, or from their default", async (t) => {
    const text = "name: a-${A}-${B:-two}\nport: ${PORT:-8540}\non: ${ON:-true}\nlist: [{ url: '${A}' }]";
    t.same(read(text, { A: "1" }), { name: "a-1-two", port: 8540, on: true, list: [{ url: "1" }] });
    t.same(read(text, { A: "1", B: "3", PORT: "1", ON: "false" }).port, 1);
    t.equal(read("port: 1\nname: ${A:-x}", { A: "" }).name, "x", "set but empty is not set, as in a shell");
  });

  t.test("a value of the environment can never become structure", async (t) => {
    t.equal(read("port: 1\nname: ${A}", { A: "x\nport: 2" }).name, "x\nport: 2");
    t.equal(read("port: 1\nname: ${A}", { A: "[1, 2]" }).name, "[1, 2]");
    t.equal(read('port: 1\nname: "${A}"', { A: "123" }).name, "123", "in quotes it stays text");
  });

  t.test("NAME_FILE names a file with the value, where NAME itself is not set", async (t) => {
    const secret = join(testFolder(t, { secret: "from the file\n", empty: "\n" }), "secret");
    const empty = join(secret, "..", "empty");
    const text = "port: 1\nname: ${A:-none}";
    t.equal(read(text, { A_FILE: secret }).name, "from the file");
    t.equal(read(text, { A: "", A_FILE: secret }).name, "from the file");
    t.equal(read(text, { A: "itself", A_FILE: secret }).name, "itself");
    t.equal(read(text, { A_FILE: "" }).name, "none");
    t.equal(read(text, { A_FILE: empty }).name, "none");
    t.equal(read("port: 1\nname: ${A_FILE}", { A_FILE: secret }).name, secret, "a path can be asked for too");
    t.same(
      problemsOf(() => read(text, { A_FILE: "/nowhere/secret" })),
      [`${file}:2: A_FILE: /nowhere/secret cannot be read (ENOENT)`],
    );
  });

  t.test("a variable that is not set is named with its line", async (t) => {
    t.same(
      problemsOf(() => read("port: 1\nname: ${MISSING}")),
      [`${file}:2: the environment variable MISSING is not set`],
    );
  });

  t.test("every problem names file, line, key and what was expected", async (t) => {
    const problems = problemsOf(() =>
      read("name: x\nport: eight\nlist:\n  - url: a\n  - url: 5\n    more: 1\n"),
    );
    t.match(problems, [
      `${file}:2: port: a port was expected`,
      new RegExp(`^${file}:5: list\\[1\\]\\.url: .*expected string`),
      `${file}:6: list[1].more: this key is unknown`,
    ]);
  });

  t.test("a key that is missing is said at what should hold it", async (t) => {
    t.match(
      problemsOf(() => read("name: x\n")),
      [/: port: a port was expected/],
    );
  });

  t.test("what is no YAML, or holds a key twice, is refused with its line", async (t) => {
    t.match(
      problemsOf(() => read("port: 1\nport: 2\n")),
      [new RegExp(`^${file}:2: .*unique`)],
    );
    t.match(
      problemsOf(() => read("port: [1\nname: x")),
      [new RegExp(`^${file}:\\d: `)],
    );
  });

  t.test("a file that is not there says how to name another", async (t) => {
    t.match(
      problemsOf(() => readConfig({ file: `${file}.none`, schema, env: {} })),
      [/cannot be read \(ENOENT\).*--config/],
    );
  });

  t.test("an override wins over the file", async (t) => {
    t.equal(read("port: 1", {}, { port: 2 }).port, 2);
  });
});
