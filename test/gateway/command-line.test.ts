import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { createApiKey } from "../../lib/keys/api-key.ts";
import { coreKey, qaKey } from "../helpers/gateway.ts";
import { runGateway, writeConfig } from "../helpers/gateway-process.ts";
import { testFolder } from "../helpers/test-folder.ts";

/** Nothing listens there: what only checks must not need it. */
const nowhere = { redisUrl: "redis://127.0.0.1:1", upstream: "http://127.0.0.1:1" };

const endOf = (t: Test, args: readonly string[]) => runGateway(t, args).ended;

t.test("--check", async (t) => {
  t.test("of a configuration in order: exit code 0, without Redis or validators", async (t) => {
    const { code, output } = await endOf(t, ["--check", "--config", writeConfig(t, nowhere)]);
    t.equal(code, 0);
    t.match(output, /in order: development profile.*1 validator.*1 key/);
    t.notMatch(output, coreKey);
  });

  t.test("of the shipped configuration", async (t) => {
    const { code, output } = await endOf(t, ["--check"]);
    t.equal(code, 0);
    t.match(output, /config\/gateway\.yaml is in order: development profile, port 8540, ops port 9540/);
  });

  t.test("of a configuration that is not: exit code 2, each problem with file, line and key", async (t) => {
    const file = writeConfig(t, {
      ...nowhere,
      more: "limits: { depthMax: deep }\nlog: { level: loud }\nunknown: 1",
    });
    const { code, output } = await endOf(t, ["--check", "--config", file]);
    t.equal(code, 2);
    t.match(output, `${file}:12: limits.depthMax: `);
    t.match(output, `${file}:13: log.level: `);
    t.match(output, `${file}:14: unknown: this key is unknown`);
    t.notMatch(output, /\n {4}at /, "no stack");
  });

  t.test("of a method table that is not in order: exit code 2", async (t) => {
    const dir = testFolder(t);
    writeFileSync(join(dir, "methods.yaml"), "lanes: {}\nmethods: {}\nrefused: []\n");
    const text = "upstreams: http://127.0.0.1:1\nmethodsFile: methods.yaml\n";
    writeFileSync(join(dir, "gateway.yaml"), text);
    const { code, output } = await endOf(t, ["--check", "--config", join(dir, "gateway.yaml")]);
    t.equal(code, 2);
    t.match(output, `${join(dir, "methods.yaml")}:1: lanes.light: `);
  });

  t.test("of a file that is not there: exit code 2, saying so", async (t) => {
    const { code, output } = await endOf(t, ["--check", "--config", "/nonexistent/gateway.yaml"]);
    t.equal(code, 2);
    t.match(output, /\/nonexistent\/gateway\.yaml: cannot be read/);
  });
});

t.test("--profile production", async (t) => {
  t.test("refuses the development keys: exit code 2, names file, line and key, not its value", async (t) => {
    const { code, output } = await endOf(t, ["--profile", "production"]);
    t.equal(code, 2);
    t.match(output, /config\/gateway\.yaml:\d+: keys\[0\]: "core development" is a development key/);
    t.match(output, /config\/gateway\.yaml:\d+: keys\[1\]: "partner QA" is a development key/);
    for (const key of [coreKey, qaKey]) t.notMatch(output, key);
  });

  t.test(
    "takes a configuration without keys, and refuses one with any: its secret would stand in a file",
    async (t) => {
      const file = join(testFolder(t), "gateway.yaml");
      const methodsFile = new URL("../../config/methods.yaml", import.meta.url).pathname;
      const common = `upstreams: http://127.0.0.1:1\nmethodsFile: ${methodsFile}\n`;
      const live = createApiKey({ profile: "production" });
      const outcomes = [
        ["", 0, /production profile/],
        [
          `keys: [{ label: a, team: a, value: ${live}, permissions: [rpc] }]\n`,
          2,
          /:3: keys\[0\].*npm run keys/,
        ],
      ] as const;
      for (const [keys, expected, says] of outcomes) {
        writeFileSync(file, common + keys);
        const { code, output } = await endOf(t, ["--check", "--profile", "production", "--config", file]);
        t.equal(code, expected, output);
        t.match(output, says);
        t.notMatch(output, live);
      }
    },
  );
});

t.test("a command line that cannot be understood: exit code 2 with the usage", async (t) => {
  const wrong = [["--no-such-option"], ["--config"], ["something"]];
  const ends = await Promise.all(wrong.map((args) => endOf(t, args)));
  for (const [index, { code, output }] of ends.entries()) {
    t.equal(code, 2, wrong[index]?.join(" ") ?? "");
    t.match(output, /Usage: npm run gateway/);
    t.notMatch(output, /\n {4}at /, "no stack");
  }
  const { code, output } = await endOf(t, ["--profile", "staging", "--check"]);
  t.equal(code, 2);
  t.match(output, /profile: .*development.*production/);
});

t.test("--help: the usage, exit code 0", async (t) => {
  const { code, output } = await endOf(t, ["--help"]);
  t.equal(code, 0);
  t.match(output, /--config FILE[\s\S]*--profile NAME[\s\S]*--check/);
});
