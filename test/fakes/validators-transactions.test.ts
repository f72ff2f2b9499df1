import { readFile } from "node:fs/promises";
import {
  concat,
  encodeRlp,
  keccak256,
  SigningKey,
  stripZerosLeft,
  Transaction,
  toBeHex,
  Wallet,
} from "ethers";
import t from "tap";
import { objects, strings, text } from "./validators/json.ts";
import {
  ask,
  askObject,
  developmentWallet,
  openSocket,
  readObject,
  signed,
  type TransferChanges,
} from "./validators/rpc.ts";
import { startValidators } from "./validators/start-validators.ts";

const members = readObject(await readFile(new URL("../vectors/besu-members.json", import.meta.url), "utf8"));
const cluster = await startValidators(t);
const first = cluster.validator(0);
const second = cluster.validator(1);
const { url, wsUrl = "" } = first;
const [alice, bob, carol] = [developmentWallet(0), developmentWallet(1), developmentWallet(2)];

// LOG1 with the first 32 bytes of the call's data as topic.
const logger = "0x600580600b6000396000f35f355f5fa100";
const nonces = new Map<string, number>();

t.test("transactions, receipts and logs have Besu's members in Besu's order", async (t) => {
  const deployed = await deploy(alice);
  const address = text(await askObject(url, "eth_getTransactionReceipt", [deployed]), "contractAddress");
  const topic = `0x${"2a".padStart(64, "0")}`;
  const hash = await mined(alice, { to: address, value: 0n, data: topic });

  const receipt = await askObject(url, "eth_getTransactionReceipt", [hash]);
  t.strictSame(Object.keys(receipt), strings(members["receipt"]));
  t.strictSame(
    Object.keys(await askObject(url, "eth_getTransactionByHash", [hash])),
    strings(members["transaction"]),
  );
  t.equal(receipt["status"], "0x1");

  const found = async (filter: object) => await ask(url, "eth_getLogs", [{ fromBlock: "0x0", ...filter }]);
  const logs = objects((await found({ address, topics: [[topic, null]] }))["result"]);
  t.equal(logs.length, 1);
  t.strictSame(Object.keys(logs[0] ?? {}), strings(members["logOfGetLogs"]));
  t.match(logs[0], { transactionHash: hash, topics: [topic], blockTimestamp: /^0x/ });
  t.strictSame(
    objects(receipt["logs"]).map((log) => log["transactionHash"]),
    [hash],
  );
  t.strictSame(await found({ address: bob.address }), { result: [] });
  t.strictSame(await found({ address, topics: [null, topic] }), { result: [] }, "no second topic");

  const invalid = { error: { code: -32602, message: "Invalid params" } };
  t.strictSame(await found({ toBlock: "0x2000" }), invalid, "more than 5 000 blocks");
  t.strictSame(await found({ fromBlock: "0x2", toBlock: "0x1" }), invalid);
});

t.test("sends are accepted and refused as Besu did", async (t) => {
  const send = async (raw: string) => await ask(url, "eth_sendRawTransaction", [raw]);
  const refused = (code: number, message: string) => ({ error: { code, message } });
  const accepted = { result: /^0x[0-9a-f]{64}$/ };

  const raw = await signed(bob, 0);
  t.match(await send(raw), accepted);
  t.strictSame(await send(raw), refused(-32000, "Known transaction"));
  t.strictSame(await ask(url, "eth_getTransactionCount", [bob.address, "pending"]), { result: "0x1" });
  t.strictSame(await ask(url, "eth_getTransactionCount", [bob.address, "latest"]), { result: "0x0" });

  t.match(await send(await signed(bob, 3, { gasPrice: 1_000n })), accepted, "a gap is queued");
  t.match(
    await send(await signed(bob, 3, { gasPrice: 1_000n, value: 2n })),
    accepted,
    "the same price replaces",
  );
  t.strictSame(
    await send(await signed(bob, 3, { gasPrice: 999n })),
    refused(-32000, "Replacement transaction underpriced"),
  );
  t.strictSame(await ask(url, "eth_getTransactionCount", [bob.address, "pending"]), { result: "0x1" });

  t.strictSame(
    await send(await signed(bob, 100_000)),
    refused(-32000, "Transaction nonce is too distant from current sender nonce"),
  );
  t.strictSame(await send(await signed(bob, 1, { chainId: 1 })), refused(-32000, "Wrong chainId"));
  t.strictSame(
    await send(await signed(bob, 1, { gasLimit: 20_999 })),
    refused(-32003, "Intrinsic gas exceeds gas limit"),
  );
  t.strictSame(
    await send(await signed(bob, 1, { gasLimit: 30_000_001 })),
    refused(-32005, "Transaction gas limit exceeds block gas limit"),
  );
  const tip = tipAboveCap(carol, bob.address);
  for (const malformed of [tip, "0x1234", "zz"]) {
    t.strictSame(await send(malformed), refused(-32602, "Invalid params"));
  }
  t.strictSame(await ask(url, "eth_sendRawTransaction"), refused(-32602, "Invalid number of params"));

  await cluster.mine(5);
  t.strictSame(await send(raw), refused(-32001, "Nonce too low"), "mined already");
  t.strictSame(await send(await signed(bob, 0, { value: 7n })), refused(-32001, "Nonce too low"));
  t.strictSame(await ask(url, "eth_getTransactionCount", [bob.address, "latest"]), { result: "0x1" });
});

t.test("a transaction without chain id or funds is accepted; without funds it stays", async (t) => {
  const poor = Wallet.createRandom();
  const raw = await poor.signTransaction({
    type: 0,
    chainId: 8845,
    nonce: 0,
    gasLimit: 21_000,
    gasPrice: 0n,
    to: bob.address,
    value: 5n,
  });
  const sent = await ask(url, "eth_sendRawTransaction", [raw]);
  t.match(sent, { result: /^0x/ });
  const old = Transaction.from({
    type: 0,
    nonce: 0,
    gasLimit: 21_000,
    gasPrice: 0n,
    to: bob.address,
    value: 1n,
  });
  old.signature = new SigningKey(carol.privateKey).sign(old.unsignedHash);
  const oldSent = await ask(url, "eth_sendRawTransaction", [old.serialized]);
  t.match(oldSent, { result: /^0x/ });

  await cluster.mine(6);
  t.match(await ask(url, "eth_getTransactionReceipt", [oldSent["result"]]), { result: { status: "0x1" } });
  t.strictSame(await ask(url, "eth_getTransactionReceipt", [sent["result"]]), { result: null });
  t.match(await ask(url, "eth_getTransactionByHash", [sent["result"]]), {
    result: { hash: sent["result"], blockHash: null, blockNumber: null, nonce: "0x0" },
  });
  t.match(await ask(url, "eth_getTransactionBySenderAndNonce", [carol.address, "0x0"]), {
    result: { hash: oldSent["result"] },
  });
  nonces.set(carol.address, 1);
});

t.test(
  "a pending transaction looks as it will when mined, and is known everywhere after a while",
  async (t) => {
    const raw = await signed(carol, nonces.get(carol.address) ?? 0);
    const { result: hash } = await ask(url, "eth_sendRawTransaction", [raw]);
    const pending = await askObject(url, "eth_getTransactionByHash", [hash]);
    t.strictSame(Object.keys(pending), strings(members["transaction"]));
    await cluster.gossiped();
    t.strictSame(await ask(second.url, "eth_sendRawTransaction", [raw]), {
      error: { code: -32000, message: "Known transaction" },
    });
    await cluster.mine();
    t.strictSame(second.pendingHashes().includes(String(hash)), false);
    const block = await askObject(url, "eth_getBlockByNumber", ["latest", true]);
    const [transaction] = objects(block["transactions"]);
    t.strictSame(
      { ...transaction, blockHash: null, blockNumber: null, blockTimestamp: null, transactionIndex: null },
      pending,
    );
  },
);

t.test("fifty transactions of one sender are mined in one block, in order", async (t) => {
  const start = nonces.get(alice.address) ?? 0;
  const raws = await Promise.all(Array.from({ length: 50 }, (_, index) => signed(alice, start + index)));
  const answers = await Promise.all(raws.reverse().map((raw) => ask(url, "eth_sendRawTransaction", [raw])));
  t.ok(answers.every((answer) => "result" in answer));
  await cluster.gossiped();
  const block = await cluster.mine();
  t.strictSame(
    block?.transactions.map(({ nonce }) => nonce),
    Array.from({ length: 50 }, (_, index) => start + index),
  );
  nonces.set(alice.address, start + 50);
});

t.test("a filter is known to the validator that made it, and to no other", async (t) => {
  const ids = await Promise.all(
    ["eth_newBlockFilter", "eth_newPendingTransactionFilter"].map((method) => ask(url, method)),
  );
  const logs = await ask(url, "eth_newFilter", [{ address: bob.address }]);
  const [blocks, pending] = ids.map((answer) => answer["result"]);
  t.match(blocks, /^0x[0-9a-f]{32}$/);
  const raw = await signed(carol, (nonces.get(carol.address) ?? 0) + 1);
  const { result: hash } = await ask(url, "eth_sendRawTransaction", [raw]);
  const block = await cluster.mine();

  t.strictSame(await ask(url, "eth_getFilterChanges", [blocks]), { result: [block?.hash] });
  t.strictSame(await ask(url, "eth_getFilterChanges", [blocks]), { result: [] });
  t.strictSame(await ask(url, "eth_getFilterChanges", [pending]), { result: [hash] });
  t.strictSame(await ask(url, "eth_getFilterLogs", [logs["result"]]), { result: [] });
  const unknown = { error: { code: -32000, message: "Filter not found" } };
  t.strictSame(await ask(second.url, "eth_getFilterChanges", [blocks]), unknown);
  t.strictSame(await ask(url, "eth_uninstallFilter", [blocks]), { result: true });
  t.strictSame(await ask(url, "eth_uninstallFilter", [blocks]), { result: false });
  t.strictSame(await ask(url, "eth_getFilterChanges", [blocks]), unknown);
});

t.test(
  "a WebSocket brings whole heads, the logs before them, and pending hashes before the answer",
  async (t) => {
    const address = text(
      await askObject(url, "eth_getTransactionReceipt", [await deploy(alice)]),
      "contractAddress",
    );
    const socket = await openSocket(wsUrl);
    const subscribe = async (...params: unknown[]) => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
      return readObject(await socket.next());
    };
    const heads = text(await subscribe("newHeads"), "result");
    const logs = text(await subscribe("logs", { address }), "result");
    const pending = text(await subscribe("newPendingTransactions"), "result");
    t.match(await subscribe("syncing"), { result: /^0x/ });
    const refusal = { error: { code: -32600, message: "Invalid Request" } };
    t.match(await subscribe("newPendingTransactions", true), refusal);
    t.match(await subscribe("foo"), refusal);
    t.match(await subscribe(), refusal);
    t.equal(first.subscriptions("newHeads"), 1);

    const raw = await signed(alice, nonces.get(alice.address) ?? 0, { to: address, data: "0x", value: 0n });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method: "eth_sendRawTransaction", params: [raw] }));
    const notified = readObject(await socket.next());
    const sent = readObject(await socket.next());
    t.match(sent, { id: 7, result: /^0x/ });
    t.match(notified, {
      method: "eth_subscription",
      params: { subscription: pending, result: sent["result"] },
    });

    await cluster.gossiped();
    await cluster.mine();
    t.match(readObject(await socket.next()), {
      params: { subscription: logs, result: { transactionHash: sent["result"], removed: false } },
    });
    const head = readObject(await socket.next());
    t.match(head, { params: { subscription: heads, result: { transactions: [sent["result"]] } } });
    const block = await askObject(url, "eth_getBlockByNumber", ["latest", false]);
    t.match(head, { params: { result: block } });

    const unsubscribe = async (id: string) => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 8, method: "eth_unsubscribe", params: [id] }));
      return readObject(await socket.next());
    };
    t.match(await unsubscribe(heads), { result: true });
    t.match(await unsubscribe(heads), { error: { code: -32000, message: "Subscription not found" } });
    await cluster.mine();
    t.equal(first.subscriptions("newHeads"), 0);
    t.strictSame(socket.frames, []);
    await socket.close();
  },
);

/** Sends with the sender's next nonce and mines; gives the transaction's hash. */
async function mined(wallet: Wallet, changes: TransferChanges): Promise<string> {
  const nonce = nonces.get(wallet.address) ?? 0;
  const answer = await ask(url, "eth_sendRawTransaction", [await signed(wallet, nonce, changes)]);
  nonces.set(wallet.address, nonce + 1);
  await cluster.gossiped();
  await cluster.mine();
  return text(answer, "result");
}

function deploy(wallet: Wallet): Promise<string> {
  return mined(wallet, { to: null, value: 0n, data: logger });
}

/** What ethers refuses to sign: it offers the proposer more than it is willing to pay at all. */
function tipAboveCap(wallet: Wallet, to: string): string {
  const fields = [toBeHex(8_845), "0x", "0x02", "0x01", toBeHex(21_000), to, "0x", "0x", []];
  const { yParity, r, s } = wallet.signingKey.sign(keccak256(concat(["0x02", encodeRlp(fields)])));
  const signature = [yParity === 0 ? "0x" : "0x01", stripZerosLeft(r), stripZerosLeft(s)];
  return concat(["0x02", encodeRlp([...fields, ...signature])]);
}
