import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { readManifest } from "../../../genesis/manifest.ts";
import { createNodeKey } from "../../../genesis/node-key.ts";
import { readBlockHeader } from "../../../lib/ibft/block-header.ts";
import { askNode } from "../../../scripts/network/chain/ask-node.ts";
import { processIdentity } from "../../../scripts/processes/process-identity.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { makeNetwork } from "./rig.ts";

const main = fileURLToPath(new URL("../../../scripts/network/main.ts", import.meta.url));

t.setTimeout(400_000);

/** Who makes blocks, by the newest header of a node. */
async function membersAt(url: string): Promise<readonly string[]> {
  const [json] = (await askNode(url, [{ method: "eth_getBlockByNumber", params: ["latest", false] }])) ?? [];
  const read = readBlockHeader(json);
  if ("problem" in read) throw new Error(read.problem);
  return read.header.extraData.validators;
}

t.test("validators are voted in and out while the chain goes on", async (t) => {
  const made = await makeNetwork(t);
  const { folder, network, status, statusWhen, validators, pidOf, rpcUrl } = made;
  const manifest = () => {
    const read = readManifest(folder);
    if ("problem" in read) throw new Error(read.problem);
    return read.manifest;
  };
  const namesOf = (rows: readonly { name: string; inSet: boolean }[]) =>
    rows.filter(({ inSet }) => inSet).map(({ name }) => name);

  await t.test("before anything runs nothing is voted", async (t) => {
    const { code, err } = await network("validator", "add", "6");
    t.match({ code, err }, { code: 1, err: /The chain stands still.*nothing is changed/s });
    t.notOk(existsSync(join(folder, "validator-6")), "and no key is made");
    t.match(await network("validator", "list"), { code: 1, out: /No node answers/ });
  });

  t.equal((await network("up")).code, 0);
  await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 2);

  await t.test("a name that is none, or nobody's, is refused", async (t) => {
    for (const word of ["validator-x", "0", "../evil", "trace-node", "0x12"]) {
      t.match(await network("validator", "add", word), { code: 2, err: /is no validator's name/ }, word);
    }
    t.match(await network("validator", "add"), { code: 2, err: /NAME is missing/ });
    t.match(await network("validator", "remove", "9"), {
      code: 2,
      err: /There is no validator-9: validator-1,/,
    });
    t.match(await network("validator", "remove", `0x${"ab".repeat(20)}`), {
      code: 2,
      err: /There is no 0xabab/,
    });
    t.match(await network("validator", "replace", "3", "3"), { code: 2, err: /cannot take its own place/ });
    t.match(await network("validator", "add", "3"), { code: 0, out: /validator-3 is a validator already/ });
  });

  await t.test("a dry run says what it means and changes nothing", async (t) => {
    const before = readFileSync(join(folder, "network.json"), "utf8");
    t.match(await network("validator", "add", "6", "--dry-run"), {
      code: 0,
      out: /Now 5 validators: 4 have to seal a block, so 1 may be down.*\nThen 6 validators: 4 have to seal a block, so 2 may be down.*\n1\. A key for validator-6/,
    });
    t.match(await network("validator", "remove", "3", "--dry-run"), {
      code: 0,
      out: /Then 4 validators: 3 have to seal/,
    });
    t.match(JSON.parse((await network("validator", "replace", "3", "6", "--dry-run", "--json")).out), {
      before: { validators: 5, quorum: 4, downMax: 1, faultyMax: 1 },
      after: { validators: 5 },
      steps: { length: 7 },
    });
    t.equal(readFileSync(join(folder, "network.json"), "utf8"), before);
    t.notOk(existsSync(join(folder, "validator-6")));
    t.same(
      (await validators()).rows.map(({ votes }) => votes),
      [{}, {}, {}, {}, {}],
    );
  });

  await t.test("a second change at the same time is refused", async (t) => {
    const held = { pid: process.pid, identity: await processIdentity(process.pid), token: "another's" };
    writeFileSync(join(folder, "validators.lock"), JSON.stringify(held));
    for (const args of [
      ["add", "6"],
      ["remove", "3"],
      ["replace", "3", "6"],
    ]) {
      t.match(await network("validator", ...args), {
        code: 1,
        err: new RegExp(`being changed already, by process ${process.pid}`),
      });
    }
    t.equal((await network("validator", "add", "6", "--dry-run")).code, 0, "a look is not");
    writeFileSync(
      join(folder, "validators.lock"),
      JSON.stringify({ ...held, identity: "of a process before" }),
    );
  });

  await t.test("add: the lock of a dead process holds nobody up, and five become six", async (t) => {
    const { code, out, err } = await network("validator", "add", "validator-6");
    t.match(
      { code, out },
      { code: 0, out: /^validator-6 validates: block \d+ is its first\. 6 validators: 4 have/ },
      err,
    );
    t.match(err, /5 validators were told to vote for validator-6; 3 of 5 votes are needed/);
    t.match(err, /Block \d+: validator-\d votes, 3 of 3/);
    t.equal(statSync(join(folder, "validator-6", "key")).mode & 0o777, 0o600);
    const { validators: nodes } = manifest();
    const key = createNodeKey(readFileSync(join(folder, "validator-6", "key"), "utf8").trim());
    t.match(nodes[5], { name: "validator-6", address: key.address, nodeId: key.nodeId });
    t.ok((await membersAt(rpcUrl(1))).includes(key.address));
    t.notOk(existsSync(join(folder, "validators.lock")));
    t.match(readFileSync(join(folder, "compose.env"), "utf8"), /UPSTREAMS=.*validator-6=/);
    const list = await validators();
    t.match(list, { validators: 6, quorum: 4 });
    t.ok((list.rows[5]?.proposed ?? 0) > 0);
    t.same(
      list.rows.map(({ votes }) => votes),
      [{}, {}, {}, {}, {}, {}],
      "no vote is left behind",
    );
    t.match(await status(), { verdict: "fine", members: 6, quorum: 4, present: 6 });
  });

  await t.test("the same again changes nothing", async (t) => {
    const before = readFileSync(join(folder, "network.json"), "utf8");
    t.match(await network("validator", "add", "6"), {
      code: 0,
      out: /is a validator already; nothing was changed/,
    });
    t.equal(readFileSync(join(folder, "network.json"), "utf8"), before);
  });

  await t.test(
    "two of six may be down: six go on with four, at the edge, and no more may leave",
    async (t) => {
      await network("stop", "1");
      t.match(await network("stop", "2"), { err: "" });
      t.match(await statusWhen(({ present }) => present === 4), { verdict: "edge of quorum", quorum: 4 });
      const before = await validators();
      t.match(await network("validator", "remove", "3"), {
        code: 1,
        err: /Without validator-3 5 validators would be left, and 4 have to seal a block\. 3 of them take part now/,
      });
      t.same(await validators().then(({ rows }) => namesOf(rows)), namesOf(before.rows));
    },
  );

  await t.test("remove: one that is down leaves by the votes of the others", async (t) => {
    const { code, out, err } = await network("validator", "remove", "2", "--json");
    t.equal(code, 0, err);
    t.match(JSON.parse(out), { removed: [{ name: "validator-2", members: 5, changed: true }] });
    t.match(await network("start", "1"), { code: 0 });
    const now = await statusWhen(({ verdict }) => verdict === "fine");
    t.match(now, { members: 5, quorum: 4, present: 5 });
    t.same(namesOf(now.validators), [
      "validator-1",
      "validator-3",
      "validator-4",
      "validator-5",
      "validator-6",
    ]);
    t.match(manifest().formerValidators, [{ name: "validator-2", slot: 1 }]);
    t.ok(existsSync(join(folder, "validator-2", "key")), "its key stays");
    t.ok(existsSync(join(folder, "native", "validator-2", "data")), "and its chain");
    t.match(await network("validator", "remove", "2"), {
      code: 0,
      out: /no validator any more; nothing was changed/,
    });
    t.match(await network("logs", "2"), {
      code: 2,
      err: /There is no validator 2: 1, 3, 4, 5, 6 were expected/,
    });
  });

  await t.test("replace: the new one comes before the old one goes, and nobody else restarts", async (t) => {
    const before = [1, 4, 5, 6].map(pidOf);
    const { code, out, err } = await network("validator", "replace", "3", "7", "--delete-data");
    t.match(
      { code, out },
      { code: 0, out: /^validator-7 validates in the place of validator-3\. 5 validators/ },
      err,
    );
    t.ok(err.indexOf("has validator-7 among 6") < err.indexOf("vote against validator-3"));
    t.notOk(existsSync(join(folder, "validator-3")), "its key is gone, as was asked for");
    t.notOk(existsSync(join(folder, "native", "validator-3")));
    t.same([1, 4, 5, 6].map(pidOf), before);
    t.same(namesOf((await validators()).rows), [
      "validator-1",
      "validator-4",
      "validator-5",
      "validator-6",
      "validator-7",
    ]);
    t.match(await network("validator", "replace", "3", "7"), { code: 0 }, "again: nothing is left to do");
  });

  await t.test("a former validator comes back with its own key, its place and its chain", async (t) => {
    const address = manifest().formerValidators?.find(({ name }) => name === "validator-2")?.address;
    t.equal((await network("validator", "add", "2")).code, 0);
    t.match(manifest().validators[1], { name: "validator-2", address, slot: 1 });
    t.ok((await membersAt(rpcUrl(2))).includes(address ?? ""));
  });

  await t.test("what a run that was killed has left is gone on with", async (t) => {
    // After the key: it is used. After the votes were told: they are on the chain, and taken back in the end.
    const key = createNodeKey();
    t.equal((await network("validator", "add", "8", "--dry-run")).code, 0);
    mkdirSync(join(folder, "validator-8"));
    writeFileSync(join(folder, "validator-8", "key"), `${key.privateKey}\n`, { mode: 0o600 });
    for (const number of ["1", "4"]) {
      await network("rpc", number, "ibft_proposeValidatorVote", JSON.stringify([key.address, true]));
    }
    t.match((await validators()).rows[0]?.votes, { [key.address]: true });
    t.match(await network("validator", "add", "8"), { code: 0 });
    t.equal(manifest().validators.find(({ name }) => name === "validator-8")?.address, key.address);
    t.ok((await validators()).rows.every(({ votes }) => Object.keys(votes ?? { none: true }).length === 0));
  });

  await t.test("down and up: the set is the chain's, whatever the genesis block says", async (t) => {
    t.equal((await network("down")).code, 0);
    t.equal((await network("up")).code, 0);
    const now = await statusWhen(({ verdict }) => verdict === "fine");
    t.match(now, { members: 7, present: 7 });
    t.notMatch(namesOf(now.validators), ["validator-3"]);
  });
});

t.test("a vote that cannot pass is given up, taken back, and changes nothing", async (t) => {
  // Every second block ends an epoch, so no two votes ever stand together.
  const { network, statusWhen, validators } = await makeNetwork(t, { more: ["epochBlocks: 2"] });
  t.equal((await network("up")).code, 0);
  await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 2);
  const { code, err } = await network("validator", "remove", "5");
  t.equal(code, 1);
  t.match(err, /The validators are as they were, validator-5 too: the vote has not passed within 24 blocks/);
  t.match(err, /begins an epoch: the votes begin anew/);
  t.match(err, /The votes are taken back/);
  const { rows } = await validators();
  t.ok(
    rows.every(
      ({ inSet, state, votes }) =>
        inSet && state === "up" && Object.keys(votes ?? { none: true }).length === 0,
    ),
  );
});

t.test("a command that is killed between the votes is gone on with by running it again", async (t) => {
  const { network, statusWhen, rpcUrl, validators, env, folder, configFile } = await makeNetwork(t);
  t.equal((await network("up")).code, 0);
  await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) >= 2);

  const where = ["--native", "--folder", folder, "--config", configFile];
  const child = spawn(process.execPath, [...process.execArgv, main, "validator", "add", "6", ...where], {
    env,
  });
  t.teardown(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await waitFor("it has told the votes", async () => /votes are needed/.test(said), { withinMs: 90_000 });
  t.match(await network("validator", "remove", "1"), { code: 1, err: /being changed already, by process/ });
  child.kill("SIGKILL");
  await once(child, "exit");
  t.match(await network("validator", "add", "6"), {
    code: 0,
    out: /^validator-6 (validates|is a validator already)/,
  });
  const { validators: many, rows } = await validators();
  t.equal(many, 6);
  t.ok(
    rows.every(({ votes }) => Object.keys(votes ?? { none: true }).length === 0),
    "no vote is left behind",
  );

  // What a node was told is in its memory, as Besu has it, and told to its operator alone.
  const vote = JSON.stringify([rows[1]?.address, false]);
  await network("rpc", "1", "ibft_proposeValidatorVote", vote);
  t.match((await validators()).rows[0]?.votes, { [rows[1]?.address ?? ""]: false });
  t.match(await askNode(rpcUrl(1), [{ method: "ibft_getPendingVotes" }]), [undefined]);
  await network("stop", "1");
  await network("start", "1");
  await statusWhen(({ verdict }) => verdict === "fine");
  t.same((await validators()).rows[0]?.votes, {});
});
