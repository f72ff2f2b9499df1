import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { askNode } from "../../../scripts/network/chain/ask-node.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork } from "./rig.ts";

t.test("a trace node is started beside the validators, follows them and counts as none", async (t) => {
  const { folder, portBase, network, statusWhen } = await makeNetwork(t, {
    more: ["traceNode: { enabled: true, javaMemoryMb: 300 }"],
  });
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

  const record: { pid: number } = JSON.parse(
    readFileSync(join(folder, "native/trace-node/process.json"), "utf8"),
  );
  process.kill(record.pid, "SIGKILL");
  const before = (await statusWhen(() => true)).height ?? 0;
  await statusWhen(({ height: tall }) => (tall ?? 0) > before + 1);
  t.pass("without it blocks go on");
  t.match(await network("up"), { code: 0 }, "and another up starts it again");
  await waitFor("it answers again", async () => (await height()) > 0);
  t.equal((await network("down")).code, 0);
  t.equal(await askNode(url, [{ method: "eth_blockNumber" }]), undefined, "down ends it too");
});
