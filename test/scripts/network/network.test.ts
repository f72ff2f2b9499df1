import { existsSync } from "node:fs";
import { join } from "node:path";
import { HDNodeWallet } from "ethers";
import t from "tap";
import { runGenesis } from "../../../genesis/run-genesis.ts";
import { blockHash, readBlockHeader, signersOf } from "../../../lib/ibft/block-header.ts";
import { askNode } from "../../../scripts/network/chain/ask-node.ts";
import { makeNetwork, runningOf } from "./rig.ts";

const five = [1, 2, 3, 4, 5];
const wallet = HDNodeWallet.fromPhrase("test test test test test test test test test test test junk");

t.test("five validators: up, one killed, two stopped, recover, wipe, down", async (t) => {
  const made = await makeNetwork(t);
  const { folder, parent, configFile, env, network, networkWith, status, statusWhen, pidOf, rpcUrl } = made;

  await t.test(
    "with nothing ever started status says what brings it up, not what mends a stall",
    async (t) => {
      const { code, err } = await network("status");
      t.equal(code, 1);
      t.match(err, `npm run network -- up --native --folder ${folder} --config ${configFile}`);
      t.notMatch(err, "network -- recover");
    },
  );

  await t.test("up starts them and waits for a block", async (t) => {
    const { code, out, err } = await network("up");
    t.equal(code, 0);
    // The stand-in runs no contracts.
    t.match(err, /^No fees are taken: This chain has no deployment factory [^\n]*$/);
    t.match(out, /The network is up: block \d+ after \d+ s\..*validator-5 +up/s);
    const { verdict, validators } = await statusWhen(({ height }) => (height ?? 0) >= 3);
    t.equal(verdict, "fine");
    for (const validator of validators) {
      t.match(validator, { state: "up", peers: 4 }, validator.name);
      t.ok((validator.lag ?? 9) <= 1, validator.name);
    }
    t.ok(validators.filter(({ proposed }) => proposed > 0).length >= 2, "turns go round");
  });

  await t.test(
    "what they make are blocks of IBFT 2.0, sealed by a quorum over their real hash",
    async (t) => {
      for (const number of five) {
        const [json] =
          (await askNode(rpcUrl(number), [{ method: "eth_getBlockByNumber", params: ["0x2", false] }])) ?? [];
        const read = readBlockHeader(json);
        if ("problem" in read) throw new Error(read.problem);
        t.equal(blockHash(read.header), read.header.hash);
        const members = new Set(read.header.extraData.validators);
        t.ok([...signersOf(read.header)].filter((sealer) => members.has(sealer)).length >= 4);
      }
    },
  );

  await t.test("a validator votes for its operator alone, and reads for everybody", async (t) => {
    const vote = { method: "ibft_proposeValidatorVote", params: [`0x${"ab".repeat(20)}`, true] };
    t.same(await askNode(rpcUrl(1), [vote, { method: "debug_setHead", params: ["0x1"] }]), [
      undefined,
      undefined,
    ]);
    t.match((await askNode(rpcUrl(1), [{ method: "eth_blockNumber" }]))?.[0], /^0x/);
    const alone = await fetch(rpcUrl(1), {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${"a.".repeat(2)}a` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...vote }),
    });
    t.match(
      { status: alone.status, json: await alone.json() },
      { status: 401, json: { error: { code: -40100 } } },
    );
    t.match(await network("rpc", "1", vote.method, JSON.stringify(vote.params)), { code: 0, out: "true" });
    t.match(await network("rpc", "1", "ibft_getPendingVotes"), { code: 0, out: /0xabab.*: true/ });
    t.match(await network("rpc", "1", "eth_noSuch"), {
      code: 1,
      err: /validator-1 refuses: Method not found/,
    });
    t.match(await network("rpc", "1", "eth_chainId", "0x1"), { code: 2, err: /JSON array/ });
  });

  await t.test("a second up changes nothing", async (t) => {
    const before = five.map(pidOf);
    t.match(await network("up"), { code: 0, out: /All validators run already; nothing was changed/ });
    t.match(JSON.parse((await network("up", "--json")).out), { started: [], verdict: "fine" });
    t.same(five.map(pidOf), before);
  });

  await t.test("commands find what runs, whatever the configured ports are by now", async (t) => {
    t.equal((await network("status")).code, 0);
    t.match(await network("logs", "2", "--lines", "1"), {
      code: 0,
      out: /^validator-2 │ .*Imported block \d+/,
    });
  });

  await t.test(
    "another network that is configured for the same ports does not take them for its own",
    async (t) => {
      const folder = join(parent, "other");
      const init = { args: ["init", "--config", configFile, "--out", folder], env, now: () => new Date() };
      t.equal(await runGenesis({ ...init, print: () => {}, note: t.fail }), 0);
      const { code, out } = await networkWith({ folder, args: ["status", "--json"] });
      t.equal(code, 1);
      t.match(JSON.parse(out), {
        verdict: "stalled",
        validators: [{ state: "other network", height: null }],
        reasons: [/0 of 5/, /belongs to another network/],
      });
    },
  );

  await t.test("one killed: the chain goes on, at the edge of quorum, and who misses is named", async (t) => {
    const pid = pidOf(2) ?? 0;
    process.kill(-pid, "SIGKILL");
    const at = (await status()).height ?? 0;
    const after = await statusWhen(
      ({ height, validators }) => (height ?? 0) > at + 1 && (validators[1]?.missedTurns ?? 0) > 0,
    );
    t.match(after, {
      code: 2,
      verdict: "edge of quorum",
      present: 4,
      reasons: [/one more down/, "validator-2 is stopped"],
    });
    t.match(after.validators[1], { state: "stopped", height: null });
    t.ok((after.validators[1]?.missedSeals ?? 0) > 0);
    t.ok(after.roundsAboveZero > 0);
    t.same(
      after.validators.filter(({ missedTurns }) => missedTurns > 0).map(({ name }) => name),
      ["validator-2"],
    );
  });

  await t.test("two stopped: stalled", async (t) => {
    t.match(await network("stop", "validator-4"), {
      code: 0,
      out: /validator-4 is stopped/,
      err: /3 of 5 run, 4 are needed/,
    });
    t.match(await status(), { code: 1, verdict: "stalled", present: 3 });
    const { err } = await network("status");
    t.match(err, `npm run network -- recover --native --folder ${folder} --config ${configFile}`);
  });

  const waiting: unknown[] = [];
  await t.test("what is sent during the stall is taken, and waits", async (t) => {
    for (const nonce of [0, 1, 2]) {
      const raw = await wallet.signTransaction({
        ...{ to: wallet.address, value: 1n, nonce, gasLimit: 21_000n, gasPrice: 0n, chainId: 8845n },
      });
      // Each at another node.
      const url = rpcUrl([1, 3, 5][nonce] ?? 1);
      const [hash] = (await askNode(url, [{ method: "eth_sendRawTransaction", params: [raw] }])) ?? [];
      t.match(hash, /^0x[0-9a-f]{64}$/);
      waiting.push(hash);
    }
  });

  await t.test("recover restarts all of them together, and the chain goes on", async (t) => {
    const before = five.map(pidOf);
    const at = (await status()).height ?? 0;
    const { code, out } = await network("recover");
    t.equal(code, 0);
    t.match(out, /The chain goes on: block \d+ after \d+ s/);
    const now = five.map(pidOf);
    t.notOk(
      now.some((pid, index) => pid === before[index]),
      "every one is new",
    );
    await statusWhen(({ verdict, height }) => verdict === "fine" && (height ?? 0) > at);
    t.match(await network("recover"), { code: 0, out: /not stalled; nothing was restarted/ });
    const receipts = waiting.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] }));
    const isMined = async () => ((await askNode(rpcUrl(2), receipts)) ?? [null]).every((one) => one !== null);
    await statusWhen(({ height }) => (height ?? 0) > at + 2);
    t.ok(await isMined(), "what was taken during the stall is mined");
    t.same(five.map(pidOf), now);
  });

  await t.test("stop and start one", async (t) => {
    t.match(await network("stop", "5"), { code: 0, out: "validator-5 is stopped.", err: "" });
    t.match(await network("stop", "5"), { code: 0, out: "validator-5 was not running." });
    t.match(await network("start", "5"), { code: 0, out: /^validator-5 answers, at block \d+\.$/ });
    t.match(await network("start", "5"), { code: 0, out: /runs already; nothing was changed/ });
    await statusWhen(({ verdict }) => verdict === "fine");
  });

  await t.test("a wiped disk is filled again from the others, with the same key", async (t) => {
    const { height } = await status();
    t.match(await network("wipe", "3"), {
      code: 0,
      out: /chain of validator-3 is removed; it runs again and fetches \d+ blocks/,
    });
    const now = await statusWhen(({ verdict, validators }) => verdict === "fine" && validators[2]?.lag === 0);
    t.ok((now.validators[2]?.height ?? 0) >= (height ?? 0));
  });

  await t.test("one that is down and wiped stays down, and it says how to start it", async (t) => {
    t.equal((await network("stop", "3")).code, 0);
    t.match(await network("wipe", "3"), {
      code: 0,
      out: /chain of validator-3 is removed; it was down and still is/,
      err: /npm run network -- start 3 --native --folder /,
    });
    t.equal((await network("start", "3")).code, 0);
    await statusWhen(({ verdict, validators }) => verdict === "fine" && validators[2]?.lag === 0);
  });

  await t.test("down stops all of them and keeps the chain", async (t) => {
    const { height } = await status();
    const pids = five.map(pidOf);
    t.match(await network("down"), { code: 0, out: /^Stopped: validator-1, .*validator-5\.$/ });
    t.same(await runningOf(pids), []);
    t.notOk(five.some((number) => existsSync(join(folder, "native", `validator-${number}`, "process.json"))));
    t.match(await network("down"), { code: 0, out: "No validator was running." });
    t.match(await status(), { code: 1, verdict: "stalled", height: null, present: 0 });
    t.match(await network("wipe", "1"), { code: 1, err: /No other validator answers.*--force/ });
    t.equal((await network("up")).code, 0);
    t.ok(((await status()).height ?? 0) > (height ?? 0), "it goes on where it was");
  });
});
