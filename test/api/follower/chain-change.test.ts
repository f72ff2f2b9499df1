import { test } from "tap";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { differences, readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { waitFor } from "../../helpers/wait-for.ts";

/** What a person waits for after a reset; the rest is a busy machine's. */
const withinMs = 2000;
const machineMs = 4000;

const send = { from: "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", value: "0x1" };
const to = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;

test("a dev chain that was reset empties the index and is indexed anew", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  for (const index of [1, 2, 3]) await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(index) }]);
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await follower.indexed(3);

  const startMs = performance.now();
  await anvil.rpc("anvil_reset");
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(4) }]);
  await waitFor("the index begins anew", () => (follower.standing().epoch ?? 0) >= 2);
  t.ok(performance.now() - startMs < withinMs + machineMs);
  await follower.indexed(1);

  const index = await readIndex(postgresUrl);
  t.match(index.tx, [{ block: 1, recipient: "\\x0000000000000000000000000000000000000004" }]);
  t.equal(index.tx.length, 1);
  t.same(follower.standing().refused, undefined);
});

test("a dev chain that was taken back empties the index, also while no block follows", async (t) => {
  const [anvil, postgresUrl, freshUrl] = await Promise.all([
    startAnvil(t),
    createDatabase(t),
    createDatabase(t),
  ]);
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(1) }]);
  // Its hash is answered before its block is made.
  await waitFor("the chain has block 1", async () => (await anvil.rpc("eth_blockNumber")) === "0x1");
  const snapshot = await anvil.rpc("evm_snapshot");
  for (const index of [2, 3]) await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(index) }]);
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await follower.indexed(3);

  const startMs = performance.now();
  await anvil.rpc("evm_revert", [snapshot]);
  await waitFor("the index has what is left", async () => {
    const { epoch = 0, next } = follower.standing();
    // A look in the middle of it sees a third chain.
    return epoch >= 2 && next === 2;
  });
  t.ok(performance.now() - startMs < withinMs + machineMs);

  // Other blocks than before, as many as before.
  for (const index of [5, 6]) await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(index) }]);
  await follower.indexed(3);
  const fresh = await startOwnFollower(t, { url: anvil.url, postgresUrl: freshUrl });
  await fresh.indexed(3);
  t.same(differences(await readIndex(postgresUrl), await readIndex(freshUrl)), []);
});

test("a chain that was taken back and grew higher between two looks is noticed by its hashes", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const snapshot = await anvil.rpc("evm_snapshot");
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(1) }]);
  const first = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await first.indexed(1);
  await first.stop();
  await anvil.rpc("evm_revert", [snapshot]);
  for (const index of [2, 3, 4]) await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(index) }]);

  const second = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await second.indexed(3);
  t.equal(second.standing().epoch, 2);
  t.match(
    (await readIndex(postgresUrl)).tx.map((row) => row["recipient"]),
    [2, 3, 4].map((index) => `\\${to(index).slice(1)}`),
  );
});

test("in production another chain stops the follower until it is told to adopt it", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(1) }]);
  const options = { url: anvil.url, postgresUrl, isDevelopment: false };
  const first = await startOwnFollower(t, options);
  await first.indexed(1);
  const before = await readIndex(postgresUrl);

  await anvil.rpc("anvil_reset");
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(2) }]);
  await waitFor("it refuses", () => first.standing().refused !== undefined);
  t.match(first.standing().refused, /genesis|block/);
  t.match(await first.registry.metrics(), /^api_index_refused 1$/m);
  t.same(differences(before, await readIndex(postgresUrl)), []);
  t.match(first.logLines.join(""), /--adopt-chain/);
  await first.stop();

  const told = await startOwnFollower(t, { ...options, adoptChain: true });
  await waitFor("it begins anew", () => told.standing().epoch === 2);
  await told.indexed(1);
  t.equal(told.standing().refused, undefined);

  // The word counted for one chain.
  await anvil.rpc("anvil_reset");
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(3) }]);
  await waitFor("it refuses the next", () => told.standing().refused !== undefined);
  t.equal(told.standing().epoch, 2);
});

test("in production a chain that was taken back changes nothing in the index", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(1) }]);
  const state = await anvil.rpc("evm_snapshot");
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl, isDevelopment: false });
  await follower.indexed(1);
  const [block] = (await readIndex(postgresUrl)).block.slice(1);
  await anvil.rpc("eth_sendTransaction", [{ ...send, to: to(2) }]);
  await follower.indexed(2);
  await anvil.rpc("evm_revert", [state]);
  await waitFor("it refuses", () => follower.standing().refused !== undefined);
  t.match((await readIndex(postgresUrl)).block[1], { hash: block?.["hash"] });
});
