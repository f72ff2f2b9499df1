import { id, Transaction, Wallet } from "ethers";
import t from "tap";
import { besuErrors, refused } from "../../../fakes/validators/besu-errors.ts";
import { developmentWallet, signed } from "../../../fakes/validators/rpc.ts";
import { startValidators } from "../../../fakes/validators/start-validators.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { anyHead, callsOf, callTo, startPool } from "./start-pool.ts";

const cluster = await startValidators(t, { gossipDelayMs: 30 });
await cluster.mine(2);
const alice = developmentWallet(0);
const bob = developmentWallet(1);
const hashOf = (raw: string) => Transaction.from(raw).hash;
const nonceOf = async (address: string) => {
  const answer = await cluster.anvil.ask("eth_getTransactionCount", [address, "latest"]);
  return "result" in answer ? Number(answer.result) : 0;
};

/** Which validators were asked to send since the last look. */
function createSendWatch() {
  const count = () => cluster.validators.map((validator) => validator.callsOf("eth_sendRawTransaction"));
  let before = count();
  return () => {
    const now = count();
    const sent = now.map((sends, index) => sends - (before[index] ?? 0));
    before = now;
    return sent;
  };
}

t.beforeEach(async () => {
  await cluster.healAll();
  await cluster.gossiped();
  await cluster.mine();
});

t.test(
  "all of a sender go to one validator, alone, and what it asks about its pending ones too",
  async (t) => {
    const { result, pool } = startPool(t, cluster.urls);
    const sentSince = createSendWatch();
    const first = await nonceOf(alice.address);
    for (let nonce = first; nonce < first + 6; nonce += 1) {
      const raw = await signed(alice, nonce);
      t.equal(await result("eth_sendRawTransaction", [raw]), hashOf(raw));
      // The others hear of it 30 ms later.
      t.equal(
        await result("eth_getTransactionCount", [alice.address, "pending"]),
        `0x${(nonce + 1).toString(16)}`,
      );
    }
    t.strictSame(
      sentSince().filter((sends) => sends > 0),
      [6],
    );

    const nonce = await nonceOf(bob.address);
    const raws = await Promise.all([0, 1, 2, 3].map((more) => signed(bob, nonce + more)));
    const calls = raws.map((raw) => pool.ask(callTo("eth_sendRawTransaction", [raw])));
    t.ok((await Promise.all(calls)).every((answer) => answer !== "unavailable"));
    const bodies = cluster.validators.flatMap((validator) => validator.calls.bodies);
    const withSends = bodies.filter((body) => body.includes("eth_sendRawTransaction"));
    t.ok(withSends.every((body) => !callsOf(body).isArray));
  },
);

t.test("replicas agree on the validator of a sender, and part ways only over one that is out", async (t) => {
  const [one, other] = [startPool(t, cluster.urls), startPool(t, cluster.urls.toReversed())];
  const sentSince = createSendWatch();
  const wallets = Array.from({ length: 10 }, (_, index) => new Wallet(id(`sender ${index}`)));
  const targets: number[] = [];
  for (const wallet of wallets) {
    const nonce = await nonceOf(wallet.address);
    await one.result("eth_sendRawTransaction", [await signed(wallet, nonce, { value: 0n })]);
    await other.result("eth_sendRawTransaction", [await signed(wallet, nonce + 1, { value: 0n })]);
    const sent = sentSince();
    t.strictSame(
      sent.filter((sends) => sends > 0),
      [2],
    );
    targets.push(sent.indexOf(2));
  }
  t.ok(new Set(targets).size >= 3, `senders are spread: ${targets}`);

  const dead = targets[0] ?? 0;
  await cluster.validator(dead).die();
  await waitFor("the dead one is passed over", () => one.validator(dead).breaker === "open");
  for (const [index, wallet] of wallets.entries()) {
    const nonce = await nonceOf(wallet.address);
    const raw = await signed(wallet, nonce + 2, { value: 0n });
    t.equal(await one.result("eth_sendRawTransaction", [raw]), hashOf(raw));
    const target = sentSince().findIndex((sends) => sends > 0);
    if (targets[index] !== dead) t.equal(target, targets[index], "who had another stays with it");
    else t.not(target, dead);
  }
});

t.test("a sender keeps its validator while that is behind for a moment, or slow", async (t) => {
  let behind = -1;
  const head = { ...anyHead, isEligible: (label: string) => label !== String(behind) };
  const settings = { health: { pingTimeoutMs: 10_000 } };
  const { result, ask, validator } = startPool(t, cluster.urls, { head, settings });
  const sentSince = createSendWatch();
  const first = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, first)]);
  const target = sentSince().findIndex((sends) => sends > 0);
  behind = target;
  // A moment: a sender's validator may be behind for 3 s.
  await new Promise((resolve) => setTimeout(resolve, 120));
  await result("eth_sendRawTransaction", [await signed(alice, first + 1)]);
  t.equal(sentSince()[target], 1, "behind for a moment");
  behind = -1;

  // It is silent for long enough that a busy machine sees it, and the ping may take longer.
  cluster.validator(target).slow(1000);
  const sending = result("eth_sendRawTransaction", [await signed(alice, first + 2)]);
  t.ok(await waitFor("reads pass it over", () => validator(target).suspect), "reads pass it over");
  t.match(await ask("eth_chainId"), /result/);
  const next = signed(alice, first + 3).then((raw) => result("eth_sendRawTransaction", [raw]));
  t.match(await Promise.all([sending, next]), [/^0x/, /^0x/]);
  t.equal(sentSince()[target], 2, "slow");
});

t.test("a sender leaves a validator whose blocks above the head are not on the chain", async (t) => {
  let liar = -1;
  const announced = anyHead.announced()?.number ?? 0n;
  const head = {
    ...anyHead,
    isEligible: (label: string) => label !== String(liar),
    heightOf: (label: string) => (label === String(liar) ? announced + 1n : announced),
  };
  const { result } = startPool(t, cluster.urls, { head });
  const sentSince = createSendWatch();
  const first = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, first)]);
  const target = sentSince().findIndex((sends) => sends > 0);
  liar = target;
  cluster.validator(target).answer("eth_getTransactionCount", { result: '"0xbad0"' });
  t.teardown(() => cluster.validator(target).heal());
  await cluster.gossiped();
  const pending = await result("eth_getTransactionCount", [alice.address, "pending"]);
  t.equal(Number(pending), first + 1);
  await result("eth_sendRawTransaction", [await signed(alice, first + 1)]);
  t.equal(sentSince()[target], 0);
});

t.test("a pool that has not heard of the sender's latest transaction does not decide alone", async (t) => {
  const { result } = startPool(t, cluster.urls);
  const sentSince = createSendWatch();
  const first = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, first)]);
  const drawn = sentSince().findIndex((sends) => sends > 0);
  await cluster.gossiped();
  // As a pool that the latest transaction went past: another gateway sent it elsewhere, and gossip has not brought it.
  cluster.validator(drawn).answer("eth_getTransactionCount", { result: `"0x${first.toString(16)}"` });
  t.teardown(() => cluster.validator(drawn).heal());
  // On a busy machine the second count may come too late now and then.
  await waitFor("of two the higher count is answered", async () => {
    const pending = await result("eth_getTransactionCount", [alice.address, "pending"]);
    return Number(pending) === first + 1;
  });
});

t.test("while a gateway sees trouble, the one pool that has the latest transaction decides", async (t) => {
  const lostAtMs = performance.now();
  const head = { ...anyHead, connectionLostAtMs: () => lostAtMs };
  const { result } = startPool(t, cluster.urls, { head });
  const first = await nonceOf(alice.address);
  t.teardown(() => cluster.healAll());
  for (const knows of cluster.validators) {
    for (const { index } of cluster.validators) {
      const count = index === knows.index ? first + 1 : first;
      cluster.validator(index).answer("eth_getTransactionCount", { result: `"0x${count.toString(16)}"` });
    }
    await waitFor(`the count of validator ${knows.index} is answered`, async () => {
      const pending = await result("eth_getTransactionCount", [alice.address, "pending"]);
      return Number(pending) === first + 1;
    });
  }
});

t.test("a second count that hangs costs the first one half a second, and no more", async (t) => {
  const { result } = startPool(t, cluster.urls);
  const sentSince = createSendWatch();
  const first = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, first)]);
  const drawn = sentSince().findIndex((sends) => sends > 0);
  for (const { index } of cluster.validators) {
    if (index !== drawn) cluster.validator(index).answer("eth_getTransactionCount", { result: '"0x0"' });
    if (index !== drawn) cluster.validator(index).slow(3000);
  }
  t.teardown(() => cluster.healAll());
  const startedMs = performance.now();
  const pending = Number(await result("eth_getTransactionCount", [alice.address, "pending"]));
  t.equal(pending, first + 1);
  const tookMs = performance.now() - startedMs;
  t.ok(tookMs < 2000, `${tookMs} ms, where the second one takes 3000`);
});

t.test("the same transaction again is answered with its hash: pending, and mined", async (t) => {
  const { result } = startPool(t, cluster.urls);
  const raw = await signed(alice, await nonceOf(alice.address));
  for (let round = 0; round < 3; round += 1)
    t.equal(await result("eth_sendRawTransaction", [raw]), hashOf(raw));
  await cluster.gossiped();
  await cluster.mine();
  for (let round = 0; round < 3; round += 1)
    t.equal(await result("eth_sendRawTransaction", [raw]), hashOf(raw));
  const twice = await Promise.all([
    result("eth_sendRawTransaction", [raw]),
    result("eth_sendRawTransaction", [raw]),
  ]);
  t.strictSame(twice, [hashOf(raw), hashOf(raw)]);
});

t.test("another one with a nonce that is mined is refused in the validator's words", async (t) => {
  const { result } = startPool(t, cluster.urls);
  const nonce = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, nonce)]);
  await cluster.gossiped();
  await cluster.mine();
  const other = await signed(alice, nonce, { value: 5n });
  t.strictSame(await result("eth_sendRawTransaction", [other]), { code: -32001, message: "Nonce too low" });
  const errors = { "0x1234": besuErrors.invalidParams, nonsense: besuErrors.invalidParams };
  for (const [raw, error] of Object.entries(errors)) {
    t.strictSame(await result("eth_sendRawTransaction", [raw]), { ...error });
  }
  t.strictSame(await result("eth_sendRawTransaction", []), { ...besuErrors.paramsCount });
  t.strictSame(await result("eth_sendRawTransaction", [await signed(alice, nonce + 1, { chainId: 1 })]), {
    ...besuErrors.wrongChainId,
  });
});

t.test(
  "a send is offered to another validator while its request lives, and its answer is the truth",
  async (t) => {
    for (const fault of ["die", "hang", "cutBody"] as const) {
      const { result } = startPool(t, cluster.urls);
      const sentSince = createSendWatch();
      const nonce = await nonceOf(alice.address);
      await result("eth_sendRawTransaction", [await signed(alice, nonce)]);
      const target = sentSince().findIndex((sends) => sends > 0);
      await cluster.validator(target)[fault]();
      const raw = await signed(alice, nonce + 1);
      t.equal(await result("eth_sendRawTransaction", [raw]), hashOf(raw), fault);
      // Cut after it was taken: the second validator may know it already.
      await cluster.gossiped();
      t.ok(
        cluster.validators.some((validator) => validator.pendingHashes().includes(hashOf(raw) ?? "")),
        "and it is in a pool",
      );
      await cluster.healAll();
      await cluster.mine();
    }
  },
);

t.test("once another transaction of its nonce was sent it is not offered again", async (t) => {
  const { pool, result } = startPool(t, cluster.urls);
  const sentSince = createSendWatch();
  const nonce = await nonceOf(alice.address);
  await result("eth_sendRawTransaction", [await signed(alice, nonce)]);
  const target = sentSince().findIndex((sends) => sends > 0);
  cluster.validator(target).hang();
  const older = await signed(alice, nonce + 1, { value: 1n });
  const newer = await signed(alice, nonce + 1, { value: 2n });
  const first = pool.ask(callTo("eth_sendRawTransaction", [older]));
  await waitFor("the older transaction reaches its validator", () =>
    cluster.validator(target).calls.bodies.some((body) => body.includes(older)),
  );
  const second = result("eth_sendRawTransaction", [newer]);
  t.equal(await second, hashOf(newer));
  t.equal(await first, "unavailable", "nobody knows what became of it");
  const offered = cluster.validators.filter((validator) =>
    validator.calls.bodies.some((body) => body.includes(older)),
  );
  t.strictSame(
    offered.map(({ index }) => index),
    [target],
  );
});

t.test("a hash that one validator does not know is asked of all before null", async (t) => {
  const { result, ask } = startPool(t, cluster.urls);
  const raw = await signed(alice, await nonceOf(alice.address));
  const hash = await result("eth_sendRawTransaction", [raw]);
  for (let round = 0; round < 12; round += 1)
    t.match(await result("eth_getTransactionByHash", [hash]), { hash });
  t.equal(await result("eth_getTransactionReceipt", [hash]), null);
  await cluster.gossiped();
  await cluster.mine();
  cluster.validator(0).answer("eth_getTransactionReceipt", { result: "null" });
  cluster.validator(1).answer("eth_getTransactionReceipt", { result: "null" });
  cluster.validator(2).answer("eth_getTransactionReceipt", refused(besuErrors.internal));
  for (let round = 0; round < 12; round += 1) {
    t.match(
      await ask("eth_getTransactionReceipt", [hash]),
      /transactionHash/,
      "an internal error, too, is asked past",
    );
  }
  const unknown = `0x${"12".repeat(32)}`;
  for (const validator of cluster.validators) validator.resetCalls();
  t.equal(await result("eth_getTransactionByHash", [unknown]), null);
  t.strictSame(
    cluster.validators.map((validator) => validator.callsOf("eth_getTransactionByHash")),
    [1, 1, 1, 1, 1],
  );
});

t.test("a block that must exist is asked of another where one says that it does not", async (t) => {
  const { result, pool } = startPool(t, cluster.urls);
  for (const index of [0, 1]) {
    cluster.validator(index).answer("eth_getBlockByNumber", { result: "null" });
    cluster.validator(index).answer("eth_getBalance", refused(besuErrors.unknownBlock));
    cluster.validator(index).answer("eth_call", { result: "null" });
  }
  for (let round = 0; round < 10; round += 1) {
    t.match(await result("eth_getBlockByNumber", ["0x1", false]), { number: "0x1" });
    t.match(await result("eth_getBalance", [alice.address, "0x1"]), /^0x/);
    t.equal(await result("eth_call", [{}, { blockNumber: "0x1" }]), "0x");
  }
  const behind = pool.status().validators.map(({ failovers }) => (failovers["behind"] ?? 0) > 0);
  t.strictSame(behind, [true, true, false, false, false]);

  await cluster.healAll();
  for (const validator of cluster.validators) validator.resetCalls();
  t.equal(await result("eth_getBlockByNumber", ["0x3e9", false]), null, "above the head nothing must exist");
  t.equal(await result("eth_getTransactionByBlockNumberAndIndex", ["0x1", "0x5"]), null);
  const asked = (method: string) =>
    cluster.validators.reduce((sum, validator) => sum + validator.callsOf(method), 0);
  t.equal(asked("eth_getBlockByNumber"), 1);
  t.ok(asked("eth_getTransactionByBlockNumberAndIndex") <= 3);
});
