import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { runRealBesu } from "../../scripts/real-besu/run-real-besu.ts";
import { placeStandIn } from "../fakes/besu-stand-in/place-stand-in.ts";
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
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
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
      "large answers",
      "subscriptions over a kill",
    ]) {
      t.equal(verdictOf(title), "ok", title);
    }
    for (const title of ["the methods that pass the gateway", "poison traces"]) {
      t.equal(verdictOf(title), "not provable", title);
    }
  },
);

t.test("a Besu that does not start is NOT OK, and nothing goes on", async (t) => {
  const lines: string[] = [];
  const code = await runRealBesu({
    besuHome: testFolder(t, {}),
    short: true,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
    signal: new AbortController().signal,
    print: (text) => lines.push(text),
  });
  t.equal(code, 1);
  t.match(lines, [/^NOT OK +first block: BESU_HOME is/]);
  t.equal(lines.length, 1);
});
