import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checks } from "../../scripts/real-besu/checks.ts";
import { runRealBesu } from "../../scripts/real-besu/run-real-besu.ts";
import { placeStandIn } from "../fakes/besu-stand-in/place-stand-in.ts";
import { nodeEnvironment } from "../helpers/node-environment.ts";
import { testFolder } from "../helpers/test-folder.ts";
import { freePortBase } from "./network/rig.ts";

/** There are two restarts of all five. */
t.setTimeout(400_000);

const quickNetwork = `blockSeconds: 1
requestTimeoutSeconds: 2
native:
  portBase: \${NATIVE_PORT_BASE}
status: { stalledAfterSeconds: 5 }
`;

t.test(
  "what real Besu has to prove is played to its end, and says what a stand-in cannot prove",
  async (t) => {
    const lines: string[] = [];
    const folder = testFolder(t, {});
    const configFile = join(folder, "network.yaml");
    writeFileSync(configFile, quickNetwork);
    const code = await runRealBesu({
      besuHome: placeStandIn(join(folder, "besu")),
      configFile,
      short: true,
      reportFile: join(folder, "report.json"),
      upgradeTo: placeStandIn(join(folder, "another-besu")),
      env: {
        ...nodeEnvironment,
        STAND_IN_OWNER_PID: String(process.pid),
        NATIVE_PORT_BASE: String(await freePortBase()),
      },
      signal: new AbortController().signal,
      print: (text) => lines.push(text),
    });
    t.comment(lines.join("\n"));
    t.equal(code, 0);
    const verdictOf = (title: string) =>
      lines
        .find((line) => line.slice(13).startsWith(`${title}:`))
        ?.slice(0, 12)
        .trim();
    for (const title of [
      "first block",
      "genesis hash",
      "one killed",
      "one stopped",
      "two down, sends and a claim in between, recover",
      "all down",
      "one wiped",
      "a validator votes for its operator alone",
      "a validator voted in, and out again",
      "a block stays, and the tags of finality mean it",
      "no fees",
      "a transaction waits for the one before it",
      "logs and filters",
      "a validator's data, saved and put back",
      "large answers",
      "subscriptions over a kill",
      "another release, one validator after the other",
    ]) {
      t.equal(verdictOf(title), "ok", title);
    }
    for (const title of ["the methods that pass the gateway", "poison traces", "a contract and its traces"]) {
      t.equal(verdictOf(title), "not provable", title);
    }
    t.match(
      lines.at(-1),
      /^Verdict: played with a stand-in \(17 ok, 3 not provable, 0 skipped, 0 NOT OK\)\.$/,
    );
    const report: unknown = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
    t.match(report, {
      ...{ verdict: "played with a stand-in", exitCode: 0, nodes: "processes", client: /stand-in/ },
      checks: checks.map(({ title, proves }) => ({ title, proves, seconds: Number })),
    });
  },
);

t.test("a Besu that does not start is NOT OK, and nothing goes on", async (t) => {
  const lines: string[] = [];
  const code = await runRealBesu({
    besuHome: testFolder(t, {}),
    short: true,
    env: nodeEnvironment,
    signal: new AbortController().signal,
    print: (text) => lines.push(text),
  });
  t.equal(code, 1);
  t.match(lines, [/^NOT OK +first block: BESU_HOME is/, /^Verdict: failed \(0 ok, .*, 1 NOT OK\)\.$/]);
  t.equal(lines.length, 2);
});

t.test("a validator that does not do what was claimed is NOT OK, and so is the whole", async (t) => {
  const lines: string[] = [];
  const folder = testFolder(t, {});
  const configFile = join(folder, "network.yaml");
  writeFileSync(configFile, quickNetwork);
  const code = await runRealBesu({
    besuHome: placeStandIn(join(folder, "besu")),
    configFile,
    short: true,
    only: "no fees",
    reportFile: join(folder, "report.json"),
    env: {
      ...nodeEnvironment,
      STAND_IN_OWNER_PID: String(process.pid),
      STAND_IN_GAS_PRICE: "0x3b9aca00",
      NATIVE_PORT_BASE: String(await freePortBase()),
    },
    signal: new AbortController().signal,
    print: (text) => lines.push(text),
  });
  t.equal(code, 1, lines.join("\n"));
  t.match(lines, [/^ok +first block/, /^NOT OK +no fees: eth_gasPrice 0x3b9aca00/, /^Verdict: failed/]);
  t.match(JSON.parse(readFileSync(join(folder, "report.json"), "utf8")), {
    ...{ verdict: "failed", exitCode: 1 },
    checks: [{ verdict: "ok" }, { title: "no fees", verdict: "NOT OK" }],
  });
});

t.test("what there was no time for is skipped by name, and the whole is no success", async (t) => {
  const lines: string[] = [];
  let clockMs = 0;
  const code = await runRealBesu({
    besuHome: testFolder(t, {}),
    short: true,
    env: nodeEnvironment,
    signal: new AbortController().signal,
    print: (text) => lines.push(text),
    now: () => (clockMs += 900_000),
  });
  t.equal(code, 1);
  for (const [index, { title }] of checks.entries()) {
    t.equal(lines[index]?.startsWith(`skipped      ${title}: the 15 minutes are over`), true, title);
  }
  t.match(lines.at(-1), /^Verdict: incomplete/);
});
