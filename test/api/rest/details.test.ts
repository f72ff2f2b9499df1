import { AbiCoder } from "ethers/abi";
import { id } from "ethers/hash";
import t from "tap";
import { transactionRecord, transferRecord } from "../../../api/records/transaction.ts";
import { listOf } from "../../../api/records/values.ts";
import { tokenCode } from "../../fakes/token/token-code.ts";
import { tokenLogs } from "../../fakes/token/token-logs.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "../support/start-api.ts";
import { alice, bob, startServices } from "../support/start-world.ts";

const { anvil, ...services } = await startServices(t);
const items = `0x${"a1".repeat(20)}`;
/** Reverts with its own input. */
const echo = `0x${"a2".repeat(20)}`;
await anvil.rpc("anvil_setCode", [items, tokenCode({})]);
await anvil.rpc("anvil_setCode", [echo, "0x365f5f37365ffd"]);
const send = async (to: string, data: string) =>
  String(await anvil.rpc("eth_sendTransaction", [{ from: alice, gas: "0x7a120", to, data }]));
const coder = AbiCoder.defaultAbiCoder();
const selector = (signature: string) => id(signature).slice(0, 10);

const reverts = {
  reason: await send(
    echo,
    `${selector("Error(string)")}${coder.encode(["string"], ["not enough: é"]).slice(2)}`,
  ),
  panic: await send(echo, `${selector("Panic(uint256)")}${coder.encode(["uint256"], [17n]).slice(2)}`),
  unknown: await send(echo, "0xdeadbeef"),
  broken: await send(echo, `${selector("Error(string)")}${"ff".repeat(40)}`),
  nothing: await send(echo, "0x"),
};
const erc721 = await send(items, tokenLogs.erc721(alice, bob, 2n ** 255n));
const batch = await send(
  items,
  tokenLogs.batch(alice, bob, [
    [1n, 10n],
    [2n, 20n],
  ]),
);
const call = `${selector("transfer(address,uint256)")}${coder.encode(["address", "uint256"], [bob, 2n ** 256n - 1n]).slice(2)}`;
const transferCall = await send(bob, call);
await anvil.rpc("evm_setAutomine", [false]);
const pending = await send(bob, "0x");
const height = Number(await anvil.rpc("eth_blockNumber"));

const api = await startApi(t, {
  ...services,
  change: (config) => ({ ...config, names: { [bob]: "Bob's shop" } }),
});
await waitFor("the index is whole", async () =>
  (await api.get("/api/v1/blocks?limit=1")).text.includes(`"indexedBlock":${height}`),
);
const transaction = async (hash: string) =>
  transactionRecord.parse((await api.get(`/api/v1/transactions/${hash}`)).json);

t.test("a failed transaction says why, as far as its bytes do", async (t) => {
  t.match((await transaction(reverts.reason)).revert, { reason: "not enough: é", error: { name: "Error" } });
  t.match((await transaction(reverts.panic)).revert, {
    reason: null,
    error: { name: "Panic", arguments: [{ type: "uint256", value: "17" }] },
  });
  t.same((await transaction(reverts.unknown)).revert, { reason: null, error: null, raw: "0xdeadbeef" });
  t.match((await transaction(reverts.broken)).revert, { reason: null, raw: /^0x08c379a0ff/ });
  t.same((await transaction(reverts.nothing)).revert, { reason: null, error: null, raw: "0x" });
  t.equal((await transaction(erc721)).revert, null);
});

t.test("calls and logs of the token standards have their names, whoever is called", async (t) => {
  t.match((await transaction(transferCall)).method, {
    ...{ selector: "0xa9059cbb", name: "transfer", signature: "transfer(address,uint256)" },
    arguments: [
      { name: "to", type: "address", value: bob },
      { name: "value", type: "uint256", value: (2n ** 256n - 1n).toString() },
    ],
  });
  t.match((await transaction(reverts.unknown)).method, {
    ...{ selector: "0xdeadbeef", name: null, signature: null, arguments: null },
  });
  t.match((await transaction(erc721)).receipt?.logs, [
    { event: { name: "Transfer", arguments: [{ name: "from" }, { name: "to" }, { name: "tokenId" }] } },
  ]);
  t.match((await transaction(batch)).receipt?.logs, [
    {
      event: {
        name: "TransferBatch",
        arguments: [{}, {}, {}, { value: ["1", "2"] }, { value: ["10", "20"] }],
      },
    },
  ]);
});

t.test("a transaction's transfers are those of the lists, one of a batch each", async (t) => {
  const list = listOf("Transfers3", transferRecord).parse(
    (await api.get(`/api/v1/tokens/${items}/transfers`)).json,
  );
  t.match(
    list.data.map(({ value, tokenId, token: { kind } }) => [kind, value, tokenId]),
    [
      // A token has the kind of its first transfer.
      [list.data[0]?.token.kind, "20", "2"],
      [list.data[0]?.token.kind, "10", "1"],
      [list.data[0]?.token.kind, null, (2n ** 255n).toString()],
    ],
  );
  const own = (await transaction(batch)).tokenTransfers;
  const plain = (rows: typeof own) => rows.map(({ token: _token, ...rest }) => rest);
  t.same(plain(own).reverse(), plain(list.data.slice(0, 2)));
});

t.test("a pending transaction has no block yet, and its record says so", async (t) => {
  const answer = await api.get(`/api/v1/transactions/${pending}`);
  t.match(transactionRecord.parse(answer.json), {
    ...{ status: "pending", blockNumber: null, blockHash: null, timestamp: null, index: null, receipt: null },
    ...{ tokenTransfers: [], revert: null },
  });
  t.same((await api.get(`/api/v1/transactions/${pending}/logs`)).json, { data: [] });
  t.match(answer.headers.get("cache-control"), /max-age=1,/);
  t.equal((await api.get(`/api/v1/transactions/${batch}`)).headers.get("cache-control"), "no-cache");
});

t.test("files have the filters of the lists, and a line for each row", async (t) => {
  const lines = async (path: string) => (await api.get(path)).text.trimEnd().split("\r\n");
  const failed = await lines(`/api/v1/accounts/${alice}/transactions.csv?status=failed`);
  t.equal(failed.length, 1 + Object.keys(reverts).length);
  t.equal(failed[0], "blockNumber,timestamp,hash,status,from,to,valueWei,feeWei,nonce");
  t.ok(failed.slice(1).every((line) => line.includes(",failed,")));
  t.equal((await lines(`/api/v1/accounts/${alice}/transactions.csv?direction=in`)).length, 1);
  t.equal((await lines(`/api/v1/accounts/${bob}/transfers.csv?direction=in`)).length, 4);
  const file = await api.get(`/api/v1/accounts/${bob}/transfers.csv`);
  t.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
  t.equal(file.headers.get("content-disposition"), `attachment; filename="transfers-${bob}.csv"`);
});

t.test("fees that nobody has burned yet are told as zero, of all sources and days", async (t) => {
  const today = () => new Date().toISOString().slice(0, 10);
  const begun = today();
  const { json } = await api.get("/api/v1/fees/burns");
  t.match(json, { policy: { burnBps: 3000, treasuryBps: 7000 }, totals: { payments: 0, burned: "0" } });
  t.equal(Object(json).sources.length, 7);
  t.equal(Object(json).byDay.length, 30);
  t.ok([begun, today()].includes(Object(json).byDay.at(-1).date));
});

t.test("an account is found by the beginning of the name that an operator gave it", async (t) => {
  t.match((await api.get("/api/v1/search?q=bob")).json, {
    data: [{ kind: "account", id: bob, title: "Bob's shop", url: `/api/v1/accounts/${bob}` }],
  });
  t.match((await api.get(`/api/v1/accounts/${bob}`)).json, { name: "Bob's shop", isContract: false });
  t.match((await api.get(`/api/v1/accounts/${echo}`)).json, { isContract: true, codeBytes: 7 });
});
