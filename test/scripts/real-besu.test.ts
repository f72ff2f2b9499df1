import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { checks } from "../../scripts/real-besu/checks.ts";
import { placeStandIn } from "../fakes/besu-stand-in/place-stand-in.ts";
import { playRealBesu } from "../helpers/play-real-besu.ts";
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
    const { folder, standIns, reportFile } = await place(t);
    const upgradeTo = placeStandIn(join(folder, "another-besu"));
    const { code, lines } = await playRealBesu({ ...standIns, reportFile, upgradeTo });
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
      "a validator voted in, replaced by another, and out again",
      "a block stays, and the tags of finality mean it",
      "no fees",
      "a transaction waits for the one before it",
      "logs and filters",
      "the traces of a sent value",
      "a validator's data, saved and put back",
      "large answers",
      "subscriptions over a kill",
      "another release, one validator after the other",
    ]) {
      t.equal(verdictOf(title), "ok", title);
    }
    for (const title of [
      "the methods that pass the gateway",
      "poison traces",
      "a contract and its traces",
      "an order paid through the FeeCollector",
    ]) {
      t.equal(verdictOf(title), "not provable", title);
    }
    t.match(
      lines.at(-1),
      /^Verdict: played with a stand-in \(18 ok, 4 not provable, 0 skipped, 0 NOT OK\)\.$/,
    );
    const report: unknown = JSON.parse(readFileSync(reportFile, "utf8"));
    t.match(report, {
      ...{ verdict: "played with a stand-in", exitCode: 0, nodes: "processes", client: /stand-in/ },
      checks: checks.map(({ title, proves }) => ({ title, proves, seconds: Number })),
    });
  },
);

t.test("a Besu that does not start is NOT OK, and nothing goes on", async (t) => {
  const { code, lines } = await playRealBesu({ besuHome: testFolder(t, {}) });
  t.equal(code, 1);
  t.match(lines, [/^NOT OK +first block: BESU_HOME is/, /^Verdict: failed \(0 ok, .*, 1 NOT OK\)\.$/]);
  t.equal(lines.length, 2);
});

t.test("a validator that does not do what was claimed is NOT OK, and so is the whole", async (t) => {
  const { standIns, reportFile } = await place(t, { STAND_IN_GAS_PRICE: "0x3b9aca00" });
  const { code, lines } = await playRealBesu({ ...standIns, reportFile, only: "no fees" });
  t.equal(code, 1, lines.join("\n"));
  t.match(lines, [/^ok +first block/, /^NOT OK +no fees: eth_gasPrice 0x3b9aca00/, /^Verdict: failed/]);
  t.match(JSON.parse(readFileSync(reportFile, "utf8")), {
    ...{ verdict: "failed", exitCode: 1 },
    checks: [{ verdict: "ok" }, { title: "no fees", verdict: "NOT OK" }],
  });
});

t.test("what there was no time for is skipped by name, and the whole is no success", async (t) => {
  let clockMs = 0;
  const besuHome = testFolder(t, {});
  const { code, lines } = await playRealBesu({ besuHome, now: () => (clockMs += 900_000) });
  t.equal(code, 1);
  for (const [index, { title }] of checks.entries()) {
    t.equal(lines[index]?.startsWith(`skipped      ${title}: the 15 minutes are over`), true, title);
  }
  t.match(lines.at(-1), /^Verdict: incomplete/);
});

/** A folder with a stand-in for Besu and the configuration of a quick network, on ports of its own. */
async function place(t: Test, env: Readonly<Record<string, string>> = {}) {
  const folder = testFolder(t, {});
  const configFile = join(folder, "network.yaml");
  writeFileSync(configFile, quickNetwork);
  const NATIVE_PORT_BASE = String(await freePortBase());
  const standIns = {
    besuHome: placeStandIn(join(folder, "besu")),
    configFile,
    env: { STAND_IN_OWNER_PID: String(process.pid), NATIVE_PORT_BASE, ...env },
  };
  return { folder, standIns, reportFile: join(folder, "report.json") };
}
