import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { askNode } from "../../../scripts/network/chain/ask-node.ts";
import { placeStandIn } from "../../fakes/besu-stand-in/place-stand-in.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork } from "./rig.ts";

const recordSchema = z.object({ pid: z.int() });

t.setTimeout(200_000);

t.test("a trace node is started beside the validators, follows them and counts as none", async (t) => {
  const { folder, parent, portBase, network, statusWhen } = await makeNetwork(t, {
    more: ["traceNode: { enabled: true, javaMemoryMb: 300 }"],
  });
  const record = join(folder, "native/trace-node/process.json");
  const pid = () => recordSchema.parse(JSON.parse(readFileSync(record, "utf8"))).pid;
  const url = `http://127.0.0.1:${portBase + 60}`;
  const { code, err } = await network("up");
  // The stand-in runs no contracts.
  t.match(
    { code, err },
    { code: 0, err: /^No fees are taken: This chain has no deployment factory [^\n]*$/ },
  );
  const height = async () => Number((await askNode(url, [{ method: "eth_blockNumber" }]))?.[0] ?? 0);
  // Validators that a busy machine starts seconds apart are long in different rounds.
  await waitFor("it has their blocks", async () => (await height()) >= 2, { withinMs: 90_000 });
  const { verdict, validators } = await statusWhen(({ height: tall }) => (tall ?? 0) >= 3);
  t.equal(verdict, "fine");
  t.equal(validators.length, 5);

  process.kill(pid(), "SIGKILL");
  const before = (await statusWhen(() => true)).height ?? 0;
  await statusWhen(({ height: tall }) => (tall ?? 0) > before + 1);
  t.pass("without it blocks go on");
  t.match(await network("up"), { code: 0 }, "and another up starts it again");
  await waitFor("it answers again", async () => (await height()) > 0);

  const version = async () => String((await askNode(url, [{ method: "web3_clientVersion" }]))?.[0]);
  const quick = ["--only", "trace-node", "--watch-seconds", "1", "--sync-seconds", "60"];
  const upgrade = (to: string, ...more: string[]) => network("upgrade", "--besu", to, ...quick, ...more);
  const tracing = placeStandIn(join(parent, "tracing"), { version: "26.9.0" });

  await t.test("a new Besu that runs no traces: it goes back, and no validator was touched", async (t) => {
    const bad = placeStandIn(join(parent, "no-traces"), { version: "26.9.0", fault: "runs no traces" });
    const { code, err } = await upgrade(bad);
    t.equal(code, 1);
    t.match(
      err,
      /trace-node with Besu 26\.9\.0 runs no traces: it answers trace_block with an error.*It goes back\..*It runs what it ran before/s,
    );
    t.match(err, /validator-5 runs Besu 26\.8\.0\n {2}trace-node runs Besu 26\.8\.0/);
  });

  await t.test("it alone gets another Besu, though a validator is down", async (t) => {
    await network("stop", "4");
    await statusWhen(({ present }) => present === 4);
    t.match(await upgrade(tracing, "--dry-run"), { code: 0, out: /^1\. trace-node: .* to run traces, / });
    const { code, out, err } = await upgrade(tracing);
    t.match({ code, out }, { code: 0, out: /^trace-node runs 26\.9\.0/ }, err);
    t.match(await version(), "v26.9.0");
    t.equal((await network("start", "4")).code, 0);
  });

  await t.test("one that does not run is left to its next start, and said so", async (t) => {
    process.kill(pid(), "SIGKILL");
    await waitFor(
      "it is gone",
      async () => (await askNode(url, [{ method: "eth_blockNumber" }])) === undefined,
    );
    t.match(await upgrade(tracing), { code: 1, err: /trace-node does not run: .*Nothing is changed/ });
  });

  t.equal((await network("down")).code, 0);
  t.equal(await askNode(url, [{ method: "eth_blockNumber" }]), undefined, "down ends it too");
});
