import { test } from "tap";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { tokenCode } from "../../fakes/token/token-code.ts";
import { abiNumber, abiText, tokenLogs } from "../../fakes/token/token-logs.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";

const alice = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const bob = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const gold = `0x${"a0".repeat(20)}`;
const items = `0x${"a1".repeat(20)}`;
const mixed = `0x${"a2".repeat(20)}`;
const bytea = (hex: string) => `\\x${hex.slice(2)}`;

test("blocks, transactions, contracts and transfers of the chain stand in PostgreSQL", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  await anvil.rpc("anvil_setCode", [
    gold,
    tokenCode({
      name: { returns: abiText("Gold") },
      symbol: { returns: abiText("GLD") },
      decimals: { returns: abiNumber(6n) },
    }),
  ]);
  await anvil.rpc("anvil_setCode", [items, tokenCode({ name: { returns: abiText("Items") } })]);
  await anvil.rpc("anvil_setCode", [mixed, tokenCode({})]);
  await anvil.rpc("evm_setAutomine", [false]);
  const send = (fields: object) =>
    anvil.rpc("eth_sendTransaction", [{ from: alice, gas: "0x7a120", ...fields }]);
  await send({ to: bob, value: "0xde0b6b3a7640000" });
  // PUSH0 PUSH0 REVERT as init code fails; STOP's makes an empty contract.
  await send({ data: "0x5f5ffd" });
  await send({ data: "0x00" });
  await send({ to: gold, data: tokenLogs.erc20(alice, bob, 5n) });
  await anvil.rpc("evm_mine");
  await send({ to: items, data: tokenLogs.erc721(alice, bob, 2n ** 256n - 1n) });
  await send({ to: mixed, data: tokenLogs.single(alice, bob, 7n, 1n) });
  await send({
    to: mixed,
    data: tokenLogs.batch(alice, bob, [
      [8n, 2n],
      [9n, 3n],
      [8n, 4n],
    ]),
  });
  await anvil.rpc("evm_mine");

  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await follower.indexed(2);
  const index = await readIndex(postgresUrl);

  t.match(index.block, [
    { number: 0, tx_count: 0, round: null, missed: [] },
    { number: 1, tx_count: 4, transfer_count: 1 },
    { number: 2, tx_count: 3, transfer_count: 5 },
  ]);
  t.match(index.tx, [
    {
      block: 1,
      index: 0,
      sender: bytea(alice),
      recipient: bytea(bob),
      value: 10 ** 18,
      ok: true,
      selector: null,
    },
    { block: 1, index: 1, recipient: null, created: null, ok: false },
    { block: 1, index: 2, recipient: null, created: /^\\x[0-9a-f]{40}$/, ok: true, selector: null },
    { block: 1, index: 3, recipient: bytea(gold), created: null, selector: "\\x00000000" },
    { block: 2, index: 0, nonce: 4 },
    { block: 2, index: 1, nonce: 5 },
    { block: 2, index: 2, nonce: 6 },
  ]);
  t.match(index.transfer, [
    { block: 1, log_index: 0, item: 0, tx_index: 3, token: bytea(gold), value: 5, token_id: null },
    { block: 2, log_index: 0, tx_index: 0, token: bytea(items), value: null, token_id: 2 ** 256 },
    { block: 2, log_index: 1, item: 0, tx_index: 1, token: bytea(mixed), value: 1, token_id: 7 },
    {
      block: 2,
      log_index: 2,
      item: 0,
      tx_index: 2,
      sender: bytea(alice),
      recipient: bytea(bob),
      value: 2,
      token_id: 8,
    },
    { block: 2, log_index: 2, item: 1, value: 3, token_id: 9 },
    { block: 2, log_index: 2, item: 2, value: 4, token_id: 8 },
  ]);
  t.match(index.token, [
    { address: bytea(gold), kind: "erc20", name: "Gold", symbol: "GLD", decimals: 6 },
    { address: bytea(items), kind: "erc721", name: "Items", symbol: null, decimals: null },
    { address: bytea(mixed), kind: "erc1155", name: null, symbol: null, decimals: null },
  ]);
  t.match(follower.standing(), { epoch: 1, next: 3, behindBlocks: 0, isLeader: true, refused: undefined });
  const metrics = await follower.registry.metrics();
  t.match(metrics, /^api_index_next_block 3$/m);
  t.match(metrics, /^api_index_behind_blocks 0$/m);
  t.match(metrics, /^api_index_leader 1$/m);
});

test("each new block is told of once, by each process that asks", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const followers = [
    await startOwnFollower(t, { url: anvil.url, postgresUrl }),
    await startOwnFollower(t, { url: anvil.url, postgresUrl }),
  ];
  await Promise.all(followers.map((follower) => follower.indexed(0)));
  const told = followers.map((follower) => {
    const ends: string[] = [];
    follower.onIndexed(({ epoch, next }) => ends.push(`${epoch}.${next}`));
    return ends;
  });
  for (const number of [1, 2, 3]) {
    await anvil.rpc("evm_mine");
    await Promise.all(followers.map((follower) => follower.indexed(number)));
  }
  t.same(told, [
    ["1.2", "1.3", "1.4"],
    ["1.2", "1.3", "1.4"],
  ]);
  t.equal(followers.filter((follower) => follower.standing().isLeader).length, 1);
});

test("a follower that has stopped leaves no timer that its process would wait for", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t)]);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await follower.indexed(0);
  await follower.stop();
  t.equal(timers(), before);
});
