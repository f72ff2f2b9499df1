import { test } from "tap";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { readIndex } from "../../../scripts/soak/follower-crashes/read-index.ts";
import { sealedBlocks, startScriptedNode } from "../../fakes/sealed-chain.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const height = 8;
const chain = sealedBlocks(
  Array.from({ length: height + 1 }, () => ({ proposer: 0, round: 0, sealedBy: [0, 1, 2, 3] })),
).map(({ json }) => json);
const bad = 5;
const zero = `0x${"00".repeat(32)}`;
const word = `0x${"ff".repeat(32)}`;

const transaction = {
  hash: `0x${"77".repeat(32)}`,
  blockNumber: `0x${bad.toString(16)}`,
  blockHash: chain[bad]?.["hash"],
  transactionIndex: "0x0",
  from: `0x${"01".repeat(20)}`,
  to: `0x${"02".repeat(20)}`,
  value: "0x1",
  nonce: "0x0",
  type: "0x0",
  input: "0x",
  gas: "0x5208",
  gasPrice: "0x1",
};
const receipt = {
  transactionHash: transaction.hash,
  transactionIndex: "0x0",
  blockNumber: transaction.blockNumber,
  blockHash: transaction.blockHash,
  from: transaction.from,
  to: transaction.to,
  contractAddress: null,
  status: "0x1",
  gasUsed: "0x5208",
  cumulativeGasUsed: "0x5208",
  effectiveGasPrice: "0x1",
  logs: [],
};
const log = { logIndex: "0x0", address: transaction.to, topics: [], data: "0x" };

type Lie = { block?: object | null; receipts?: unknown };
const withTransaction = (changes: object = {}) => ({
  transactions: [{ ...transaction, ...changes }],
});
const lies: Record<string, Lie> = {
  "does not follow the one before": { block: { parentHash: zero } },
  "is not there": { block: null },
  "is another block": { block: { number: "0x3" } },
  "has no hash": { block: { hash: "0x1234" } },
  "has a size beyond every column": { block: { size: "0xfffffffff" } },
  "has gas beyond every column": { block: { gasLimit: word } },
  "has receipts without transactions": { receipts: [receipt] },
  "has transactions without receipts": { block: withTransaction() },
  "has a transaction of another block": {
    block: withTransaction({ blockHash: zero }),
    receipts: [receipt],
  },
  "has receipts of another block": { block: withTransaction(), receipts: [{ ...receipt, blockHash: zero }] },
  "has a receipt of another transaction": {
    block: withTransaction(),
    receipts: [{ ...receipt, transactionHash: zero }],
  },
  "has a fee beyond every number": {
    block: withTransaction(),
    receipts: [{ ...receipt, effectiveGasPrice: word, gasUsed: "0x7fffffffffffffff" }],
  },
  "has a type of two bytes": { block: withTransaction({ type: "0x1234" }), receipts: [receipt] },
  "has the same log twice": { block: withTransaction(), receipts: [{ ...receipt, logs: [log, log] }] },
  "has receipts that are a text": { receipts: "none" },
};

for (const [what, lie] of Object.entries(lies)) {
  test(`a chain whose block ${what} stops the index before it, until the chain is mended`, async (t) => {
    const postgresUrl = await createDatabase(t);
    const node = await startScriptedNode(t, {
      blocks: chain,
      change({ method, number, result }) {
        if (number !== bad) return result;
        if (method === "eth_getBlockReceipts") return "receipts" in lie ? lie.receipts : result;
        if (lie.block === null) return null;
        return { ...Object(result), ...lie.block };
      },
    });
    const follower = await startOwnFollower(t, { url: node.url, postgresUrl });
    await waitFor(
      "all before it is indexed",
      async () =>
        follower.standing().next === bad &&
        follower.logLines.some((line) => line.includes("cannot be brought")),
    );
    t.equal((await readIndex(postgresUrl)).block.length, bad);

    node.setChange(({ result }) => result);
    await follower.indexed(height);
    const { block, tx } = await readIndex(postgresUrl);
    t.equal(block.length, height + 1);
    t.equal(tx.length, 0);
    t.equal(follower.standing().epoch, 1);
    t.match(follower.logLines.join(""), /follows the chain again/);
  });
}

test("a chain that answers with what is no JSON-RPC is asked again", async (t) => {
  const postgresUrl = await createDatabase(t);
  const node = await startScriptedNode(t, { blocks: chain, change: () => "a text" });
  const follower = await startOwnFollower(t, { url: node.url, postgresUrl });
  await waitFor("it says so", () => follower.logLines.some((line) => line.includes("cannot be brought")));
  node.setDown(true);
  await waitFor("it cannot be asked", () => follower.logLines.some((line) => line.includes("not answer")));
  node.setDown(false);
  node.setChange(({ result }) => result);
  await follower.indexed(height);
  t.equal((await readIndex(postgresUrl)).block.length, height + 1);
});

test("blocks too large for one answer are asked for in shorter ranges", async (t) => {
  const postgresUrl = await createDatabase(t);
  const padding = "x".repeat(5 * 1024 * 1024);
  const node = await startScriptedNode(t, {
    blocks: chain,
    change: ({ method, result }) =>
      method === "eth_getBlockByNumber" && result !== null ? { ...Object(result), padding } : result,
  });
  const follower = await startOwnFollower(t, { url: node.url, postgresUrl, headPollMs: 600_000 });
  await follower.indexed(height);
  t.equal((await readIndex(postgresUrl)).block.length, height + 1);
});
