import t from "tap";
import { z } from "zod";
import { transactionRecord, transferRecord } from "../../../api/records/transaction.ts";
import { listOf } from "../../../api/records/values.ts";
import { createRoutes } from "../../../api/rest/routes.ts";
import { alice, bob, gold, startWorld } from "../support/start-world.ts";

const { api, hashes } = await startWorld(t);
const routes = createRoutes({ version: "0", publicUrl: "http://127.0.0.1:4000", graphqlSchema: () => "" });

/** A good value for each parameter of a path. */
const values: Readonly<Record<string, string>> = { number: "1", hash: hashes.payment, address: alice };

t.test("every route's answer has the form that is published", async (t) => {
  const { hash } = z.object({ hash: z.string() }).parse((await api.get("/api/v1/blocks/1")).json);
  for (const { path, response, operationId } of routes) {
    if (operationId === "getContractAbi" || operationId === "getValidator") continue;
    const own = operationId === "getBlockByHash" ? { ...values, hash } : values;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => own[name] ?? "");
    const answer = await api.get(operationId === "search" ? `${filled}?q=1` : filled);
    t.equal(answer.status, 200, `${operationId}: ${answer.text.slice(0, 200)}`);
    t.ok(answer.headers.get("etag"), operationId);
    if ("mediaType" in response) t.match(answer.headers.get("content-type"), response.mediaType);
    else t.same(response.parse(answer.json), answer.json, operationId);
  }
});

t.test("a transaction has its receipt, its transfers and what it called", async (t) => {
  const transfer = transactionRecord.parse((await api.get(`/api/v1/transactions/${hashes.transfer}`)).json);
  t.match(transfer, {
    status: "success",
    from: alice,
    blockNumber: 2,
    receipt: {
      status: "success",
      logs: [{ event: { name: "Transfer", arguments: [{ value: alice }, { value: bob }, { value: "5" }] } }],
    },
    tokenTransfers: [
      { from: alice, to: bob, value: "5", tokenId: null, token: { name: "Gold", decimals: 6 } },
    ],
  });
  const failed = transactionRecord.parse((await api.get(`/api/v1/transactions/${hashes.failed}`)).json);
  t.match(failed, { status: "failed", to: null, receipt: { status: "failed" } });
  const creation = transactionRecord.parse((await api.get(`/api/v1/transactions/${hashes.creation}`)).json);
  t.match(creation.contractCreated, /^0x[0-9a-fA-F]{40}$/);
  t.match(await api.get(`/api/v1/accounts/${creation.contractCreated}`), {
    json: {
      createdBy: { address: alice, transactionHash: hashes.creation, blockNumber: 1 },
      firstSeenBlock: 1,
    },
  });
});

t.test("lists page from the newest row to the oldest, each row once", async (t) => {
  const page = listOf("Page", z.looseObject({ hash: z.string() }));
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const answer = page.parse((await api.get(`/api/v1/accounts/${alice}/transactions?limit=1${after}`)).json);
    seen.push(...answer.data.map(({ hash }) => hash));
    cursor = answer.nextCursor;
  }
  t.same(seen, [hashes.transfer, hashes.creation, hashes.failed, hashes.payment]);
  const received = page.parse((await api.get(`/api/v1/accounts/${bob}/transactions?direction=in`)).json);
  t.same(
    received.data.map(({ hash }) => hash),
    [hashes.payment],
  );
  const failed = page.parse((await api.get(`/api/v1/accounts/${alice}/transactions?status=failed`)).json);
  t.same(
    failed.data.map(({ hash }) => hash),
    [hashes.failed],
  );
  const today = new Date().toISOString().slice(0, 10);
  const none = page.parse((await api.get(`/api/v1/accounts/${alice}/transactions?to=2001-01-01`)).json);
  t.same(none.data, []);
  const all = page.parse(
    (await api.get(`/api/v1/accounts/${alice}/transactions?from=2001-01-01&to=${today}`)).json,
  );
  t.equal(all.data.length, 4);
});

t.test("transfers of tokens, as a list and as a file that no spreadsheet runs", async (t) => {
  const transfers = listOf("Transfers2", transferRecord);
  for (const path of [`/api/v1/tokens/${gold}/transfers`, `/api/v1/accounts/${bob}/transfers?direction=in`]) {
    t.match(
      transfers.parse((await api.get(path)).json).data,
      [{ transactionHash: hashes.transfer, value: "5" }],
      path,
    );
  }
  const file = await api.get(`/api/v1/accounts/${bob}/transfers.csv`);
  t.match(file.headers.get("content-disposition"), /attachment/);
  t.match(file.text, /,'=GLD,/, "a symbol is never a formula");
  t.equal(file.text.split("\r\n").length, 3);
});

t.test("search knows by the form what is meant", async (t) => {
  const kinds = async (q: string) =>
    z
      .object({ data: z.array(z.object({ kind: z.string() })) })
      .parse((await api.get(`/api/v1/search?q=${q}`)).json)
      .data.map(({ kind }) => kind);
  t.same(await kinds("1"), ["block"]);
  t.same(await kinds("99"), []);
  t.same(await kinds(hashes.payment), ["transaction"]);
  t.same(await kinds(bob.toLowerCase()), ["account"]);
  t.same(await kinds(gold), ["contract"]);
  t.same(await kinds("nobody"), []);
});
