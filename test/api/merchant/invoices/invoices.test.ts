import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { type InvoiceRecord, invoiceRecord } from "../../../../api/merchant/invoices/invoice-record.ts";
import { idOf } from "../../../../api/merchant/public-id.ts";
import { depositBoxAddress } from "../../../../lib/fee-collector/fee-addresses.ts";
import { developmentFeeSettings } from "../../../../lib/fee-collector/fee-settings.ts";
import { testFolder } from "../../../helpers/test-folder.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { send } from "../support/sign-in.ts";
import { buyKey, newcomer, startShop } from "../support/start-shop.ts";

const folder = testFolder(t, {});
const rateFile = join(folder, "rate.json");
const writeRate = (idrPerToken: string, at = Date.now()) =>
  writeFile(rateFile, JSON.stringify({ idrPerToken, at: new Date(at).toISOString() }));
await writeRate("15000");

const shop = await startShop(t, {
  replicas: 2,
  change: (config) => ({
    ...config,
    invoices: {
      ...config.invoices,
      openMax: 8,
      rates: { ...config.invoices.rates, rateFile },
    },
  }),
});
const { api, apis, db } = shop;
const path = "/api/v1/svc-dev/v1/invoices";

async function merchant(scopes?: string[]) {
  const { wallet, headers } = await newcomer(api);
  const request = { package: "monthly", ...(scopes === undefined ? {} : { scopes }) };
  const { secret, id } = await buyKey(shop, headers, request);
  const key = { "X-Svc-Dev-Key": secret };
  return {
    ...{ wallet, headers, key, keyId: id },
    create: (body: unknown, more: Record<string, string> = {}, at = api) =>
      send(at, path, { headers: { ...key, ...more }, body }),
    get: (at: string) => api.get(`${path}${at}`, key),
    post: (at: string) => send(api, `${path}${at}`, { headers: key }),
  };
}

const invoiceOf = (json: unknown): InvoiceRecord => z.object({ invoice: invoiceRecord }).parse(json).invoice;
const page = z.object({ data: z.array(invoiceRecord), nextCursor: z.string().nullable() });

t.test("an invoice has its price, its deposit address and a link, with times twice", async (t) => {
  const { wallet, create, get } = await merchant();
  const answer = await create({
    ...{ amountIdr: 100_000, customerLabel: "Ibu Sari 🧺", note: "2 kain\nbatik", reference: "INV/2026/7" },
    ...{ redirectUrl: "https://toko.example/terima?no=7", expiresInMinutes: 60 },
  });
  t.equal(answer.status, 201, answer.text);
  const invoice = invoiceOf(answer.json);
  t.match(invoice, {
    ...{ state: "open", late: false, amountIdr: 100_000, amountIdrText: "Rp\u00a0100.000" },
    ...{ customerLabel: "Ibu Sari 🧺", note: "2 kain\nbatik", reference: "INV/2026/7" },
    ...{ amount: "6.66667", amountWei: "6666670000000000000", dueWei: "6666670000000000000" },
    ...{ receivedWei: "0", overpaidWei: "0", payments: [], paidAt: null, paidAtUnix: null },
    ...{ redirectUrl: "https://toko.example/terima?no=7", rate: { idrPerToken: "15000", source: "file" } },
    ...{
      payUrl: /^http:\/\/127\.0\.0\.1:4000\/pay\/[0-9A-Za-z]{22}$/,
      receiptUrl: `${invoice.payUrl}/receipt`,
    },
  });
  t.equal(invoice.watchUntilUnix - invoice.expiresAtUnix, 86_400);
  t.ok(Math.abs(invoice.expiresAtUnix - Date.now() / 1000 - 3600) < 30);
  t.equal(Date.parse(invoice.expiresAt) / 1000, invoice.expiresAtUnix);
  t.same(invoiceOf((await get(`/${invoice.id}`)).json), invoice);

  const { rows } = await db.query(
    `select '0x' || encode(o.id_on_chain, 'hex') as id, '0x' || encode(o.payee, 'hex') as payee, o.source, o.fee::text,
       extract(epoch from o.valid_until)::int as ends
     from svc.orders o join svc.invoices i on i.order_id = o.id where i.id = $1`,
    [idOf("inv").parse(invoice.id)],
  );
  t.match(rows[0], {
    payee: wallet.toLowerCase(),
    source: "payments",
    fee: "0",
    ends: invoice.expiresAtUnix,
  });
  const { feeCollector } = developmentFeeSettings;
  t.equal(invoice.depositAddress, depositBoxAddress({ feeCollector, id: String(rows[0]?.["id"]) }));
});

t.test("what may be left out is, and the same number written otherwise is the same", async (t) => {
  const { create } = await merchant();
  for (const text of ['{"amountIdr":150000.0}', '{"amountIdr":15e4}']) {
    const invoice = invoiceOf((await create(text, { "Content-Type": "application/json" })).json);
    t.match(invoice, {
      ...{ amountIdr: 150_000, amount: "10", customerLabel: "", note: "" },
      ...{ reference: null, redirectUrl: null },
    });
    t.ok(Math.abs(invoice.expiresAtUnix - Date.now() / 1000 - 1800) < 30, "half an hour");
  }
});

t.test("what is out of bounds is refused, with where it stands, and makes nothing", async (t) => {
  const { create, get } = await merchant();
  const bodies: [string, string][] = [
    ['{"amountIdr":999}', "/amountIdr"],
    ['{"amountIdr":1000000001}', "/amountIdr"],
    ['{"amountIdr":1000.5}', "/amountIdr"],
    ['{"amountIdr":"150000"}', "/amountIdr"],
    ['{"amountIdr":null}', "/amountIdr"],
    ['{"amountIdr":1e400}', "/amountIdr"],
    ['{"amountIdr":-150000}', "/amountIdr"],
    ["{}", "/amountIdr"],
    ['{"amountIdr":150000,"amountWei":"1"}', "/amountWei"],
    ['{"amountIdr":150000,"state":"paid"}', "/state"],
    [JSON.stringify({ amountIdr: 150_000, customerLabel: "x".repeat(121) }), "/customerLabel"],
    ['{"amountIdr":150000,"customerLabel":"a\\u0000b"}', "/customerLabel"],
    ['{"amountIdr":150000,"customerLabel":"a\\nb"}', "/customerLabel"],
    ['{"amountIdr":150000,"customerLabel":"\\ud800"}', "/customerLabel"],
    [JSON.stringify({ amountIdr: 150_000, note: "x".repeat(501) }), "/note"],
    ['{"amountIdr":150000,"reference":""}', "/reference"],
    [JSON.stringify({ amountIdr: 150_000, reference: "x".repeat(81) }), "/reference"],
    ['{"amountIdr":150000,"expiresInMinutes":4}', "/expiresInMinutes"],
    ['{"amountIdr":150000,"expiresInMinutes":1441}', "/expiresInMinutes"],
    ['{"amountIdr":150000,"expiresInMinutes":7.5}', "/expiresInMinutes"],
    ...[
      "javascript:alert(1)",
      "//toko.example",
      "ftp://toko.example",
      "https://",
      "https://user@toko.example",
      "https://user:pass@toko.example/",
      "https://toko.example/a b",
      "https://toko.example\\@evil.example",
      `https://toko.example/${"x".repeat(500)}`,
      ` https://toko.example`,
    ].map((redirectUrl): [string, string] => [
      JSON.stringify({ amountIdr: 150_000, redirectUrl }),
      "/redirectUrl",
    ]),
  ];
  for (const [body, pointer] of bodies) {
    const answer = await create(body, { "Content-Type": "application/json" });
    t.match(answer.json, { status: 400, code: "invalid_request", errors: [{ pointer }] }, body);
    t.notMatch(answer.text, wordsOfLibraries);
  }
  t.same(page.parse((await get("")).json).data, []);
  const longest = { customerLabel: "🧺".repeat(120), note: "é".repeat(500), reference: "ü".repeat(80) };
  t.match(await create({ amountIdr: 1000, ...longest }), { status: 201 });
  t.match(await create({ amountIdr: 1_000_000_000, expiresInMinutes: 5 }), { status: 201 });
});

t.test(
  "50 of the same request at once over two processes are one invoice, and so is one later",
  async (t) => {
    const { create, get } = await merchant();
    const once = { "Idempotency-Key": "order-7" };
    const ask = (index: number) => create({ amountIdr: 150_000, note: "a" }, once, apis[index % 2] ?? api);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index)));
    const made = answers.filter(({ status }) => status === 201);
    t.ok(made.length >= 1);
    t.equal(new Set(made.map(({ text }) => text)).size, 1);
    for (const answer of answers) {
      // Where the machine is busy one may be told that the database or the chain is: then it made nothing.
      if (answer.status === 201 || answer.status === 503) continue;
      t.match(answer.json, { status: 409, code: "idempotency_in_progress" });
      t.ok(answer.headers.has("retry-after"));
    }
    const again = await ask(0);
    t.equal(again.text, made[0]?.text, "byte for byte");
    t.equal(page.parse((await get("")).json).data.length, 1);
    const spelled = await create('{"note":"a","amountIdr":15e4}', {
      ...once,
      "Content-Type": "application/json",
    });
    t.equal(spelled.text, again.text, "the same, written otherwise");

    t.match((await create({ amountIdr: 150_001, note: "a" }, once)).json, {
      status: 422,
      code: "idempotency_key_reused",
    });
    await db.query("update svc.idempotency_keys set created_at = now() - interval '24 hours 1 second'");
    const nextDay = await create({ amountIdr: 150_001 }, once);
    t.equal(nextDay.status, 201, "after a day the key is free");
    t.equal(page.parse((await get("")).json).data.length, 2);
  },
);

t.test(
  "an Idempotency-Key is one wallet's key's own, in bounds, and what is refused may be tried again",
  async (t) => {
    const [one, other] = [await merchant(), await merchant()];
    const once = { "Idempotency-Key": "shared" };
    const [first, second] = [
      invoiceOf((await one.create({ amountIdr: 150_000 }, once)).json),
      invoiceOf((await other.create({ amountIdr: 150_000 }, once)).json),
    ];
    t.not(first.id, second.id);
    for (const wrong of ["a b", "x".repeat(256), "é"]) {
      const answer = await one
        .create({ amountIdr: 150_000 }, { "Idempotency-Key": wrong })
        .catch(() => undefined);
      t.match(answer?.json, { status: 400, errors: [{ pointer: "#/header/Idempotency-Key" }] }, wrong);
    }
    const { rows } = await db.query("select * from svc.idempotency_keys");
    t.notOk(JSON.stringify(rows).includes(first.payUrl.slice(-22)), "answers are sealed");

    await one.create({ amountIdr: 150_000, reference: "taken" });
    const retry = { "Idempotency-Key": "retry" };
    const body = { amountIdr: 150_000, reference: "taken" };
    t.match(await one.create(body, retry), { status: 400 });
    await db.query("update svc.invoices set reference = 'free' where reference = 'taken'");
    t.match(await one.create(body, retry), { status: 201 });
  },
);

t.test(
  "a reference is one invoice's of a wallet, also of many at once, and may be another wallet's",
  async (t) => {
    const [one, other] = [await merchant(), await merchant()];
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        one.create({ amountIdr: 150_000, reference: "A-1" }, {}, apis[index % 2] ?? api),
      ),
    );
    const [made, ...more] = answers.filter(({ status }) => status === 201);
    t.equal(more.length, 0);
    const { id } = invoiceOf(made?.json);
    const refused = answers.find(({ status }) => status === 400);
    t.match(refused?.json, { errors: [{ pointer: "/reference", message: new RegExp(id) }] });
    t.match(await other.create({ amountIdr: 150_000, reference: "A-1" }), { status: 201 });
    const found = page.parse((await one.get("?reference=A-1")).json).data;
    t.same(
      found.map((invoice) => invoice.id),
      [id],
    );
  },
);

t.test(
  "so many invoices of a wallet are open, also of many at once; one that is cancelled makes room",
  async (t) => {
    const { create, post } = await merchant();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create({ amountIdr: 150_000 }, {}, apis[index % 2] ?? api)),
    );
    const made = answers.filter(({ status }) => status === 201);
    t.equal(made.length, 8);
    const refused = answers.find(({ status }) => status === 429);
    t.match(refused?.json, { code: "rate_limited", detail: /At most 8 invoices/ });
    t.ok(Number(refused?.headers.get("retry-after")) > 60);
    await post(`/${invoiceOf(made[0]?.json).id}/cancel`);
    t.match(await create({ amountIdr: 150_000 }), { status: 201 });
  },
);

t.test("an open invoice is cancelled, once; one that is over is not", async (t) => {
  const { create, post, get } = await merchant();
  const { id } = invoiceOf((await create({ amountIdr: 150_000 })).json);
  t.match(invoiceOf((await post(`/${id}/cancel`)).json), { id, state: "canceled" });
  t.match(invoiceOf((await post(`/${id}/cancel`)).json), { id, state: "canceled" });
  const { rows } = await db.query(
    "select count(*)::int from svc.audit_log where action = 'invoice.canceled' and about->>'invoice' = $1",
    [idOf("inv").parse(id)],
  );
  t.match(rows[0], { count: 1 });
  const other = invoiceOf((await create({ amountIdr: 150_000 })).json);
  await db.query("update svc.invoices set state = 'expired' where id = $1", [idOf("inv").parse(other.id)]);
  t.match((await post(`/${other.id}/cancel`)).json, { status: 400, detail: /this one is expired/ });
  t.match(invoiceOf((await get(`/${other.id}`)).json), { state: "expired" });
});

t.test(
  "a list has each invoice once, newest first, by pages, states, references and days of Jakarta",
  async (t) => {
    const { create, get, post } = await merchant();
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1)
      ids.unshift(invoiceOf((await create({ amountIdr: 150_000 + index })).json).id);
    // Of one microsecond: the id decides.
    await db.query("update svc.invoices set created_at = '2026-11-22T17:00:00.000001Z' where id = any($1)", [
      ids.slice(0, 5).map((id) => idOf("inv").parse(id)),
    ]);
    await db.query("update svc.invoices set created_at = '2026-11-22T16:59:59.999999Z' where id = any($1)", [
      ids.slice(5).map((id) => idOf("inv").parse(id)),
    ]);
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const read = page.parse((await get(`?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`)).json);
      walked.push(...read.data.map(({ id }) => id));
      cursor = read.nextCursor;
    } while (cursor !== null);
    t.equal(new Set(walked).size, 7);
    t.same(walked.toSorted(), ids.toSorted());
    t.same(walked.slice(5).toSorted(), ids.slice(5).toSorted(), "the older ones last");

    const count = async (query: string) => page.parse((await get(`?${query}`)).json).data.length;
    t.equal(await count("from=2026-11-23"), 5, "a day begins at 17:00 UTC");
    t.equal(await count("to=2026-11-22"), 2);
    t.equal(await count("from=2026-11-22&to=2026-11-23"), 7);
    await post(`/${ids[0]}/cancel`);
    t.equal(await count("state=canceled"), 1);
    t.equal(await count("state=open"), 6);
    const wrong = [
      "cursor=abc",
      "limit=0",
      "limit=101",
      "state=lost",
      "from=2026-13-01",
      "to=tomorrow",
      "wallet=x",
    ];
    for (const query of wrong) {
      const [name = ""] = query.split("=");
      const answer = await get(`?${query}`);
      t.match(answer.json, { status: 400, errors: [{ pointer: `#/query/${name}` }] }, query);
    }
  },
);

t.test(
  "a file of invoices runs nothing in a spreadsheet, and parts with a semicolon where it is asked to",
  async (t) => {
    const { create, get } = await merchant();
    const labels = ["=1+1", "+1", "-1", "@SUM(A1)", 'say "hi", you', "a;b"];
    for (const customerLabel of labels) await create({ amountIdr: 150_000, customerLabel, note: "x\ny" });
    const file = await get(".csv");
    t.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
    t.match(file.headers.get("content-disposition"), /attachment; filename="invoices.csv"/);
    t.equal(file.headers.get("cache-control"), "no-store");
    const [head = "", ...lines] = file.text.split("\r\n");
    t.match(head, /^id,createdAt,state,late,amountIdr,customerLabel,note,reference,/);
    t.equal(lines.length, labels.length + 1, "a line each, and the end of the last");
    for (const cell of ["'=1+1", "'+1", "'-1", "'@SUM(A1)", '"say ""hi"", you"', "a;b"])
      t.ok(file.text.includes(`,150000,${cell},"x\ny",`), cell);
    const excel = await get(".csv?separator=;&state=open");
    t.ok(excel.text.includes(';150000;"a;b";"x\ny";'));
    t.ok(excel.text.includes(';150000;"say ""hi"", you";'));
    t.equal((await get(".csv?state=paid")).text, `${head}\r\n`);
    t.match((await get(".csv?separator=x")).json, { status: 400 });
  },
);

t.test(
  "another wallet's invoice is 403, one that is not there 404, and a key has its scopes alone",
  async (t) => {
    const [one, other] = [await merchant(), await merchant()];
    const { id } = invoiceOf((await one.create({ amountIdr: 150_000 })).json);
    for (const answer of [await other.get(`/${id}`), await other.post(`/${id}/cancel`)]) {
      t.match(answer.json, { status: 403, code: "forbidden" });
      t.notMatch(answer.text, /150000|pay\//);
    }
    t.same(page.parse((await other.get("")).json).data, []);
    t.notOk((await other.get(".csv")).text.includes(id));
    const nobody = `inv_${"0".repeat(22)}`;
    for (const answer of [await one.get(`/${nobody}`), await one.post(`/${nobody}/cancel`)])
      t.match(problem.passthrough().parse(answer.json), { status: 404, code: "not_found" });
    t.match((await one.get("/inv_short")).json, { status: 400 });
    t.match(invoiceOf((await one.get(`/${id}`)).json), { state: "open" });

    const [reader, writer] = [await merchant(["invoices:read"]), await merchant(["invoices:write"])];
    t.match(await reader.get(""), { status: 200 });
    t.match((await reader.create({ amountIdr: 150_000 })).json, { code: "insufficient_scope" });
    t.match((await reader.post(`/${id}/cancel`)).json, { code: "insufficient_scope" });
    t.match(await writer.create({ amountIdr: 150_000 }), { status: 201 });
    for (const at of ["", ".csv", `/${id}`])
      t.match((await writer.get(at)).json, { code: "insufficient_scope" });
  },
);

t.test("with a rate that is too old none is made, and the rest goes on", async (t) => {
  const { create, get, post } = await merchant();
  const once = { "Idempotency-Key": "before" };
  const before = await create({ amountIdr: 150_000 }, once);
  await writeRate("15000", Date.now() - 3_700_000);
  await waitFor(
    "the old rate is read",
    async () => {
      const answer = await create({ amountIdr: 150_000 });
      if (answer.status === 201) await post(`/${invoiceOf(answer.json).id}/cancel`);
      return answer.status === 503;
    },
    { everyMs: 100 },
  );
  const refused = await create({ amountIdr: 150_000 });
  t.match(refused.json, { status: 503, code: "upstream_unavailable", detail: /exchange rate/ });
  t.equal(refused.headers.get("retry-after"), "60");
  t.equal((await create({ amountIdr: 150_000 }, once)).text, before.text, "what was made is told again");
  t.match(await get(`/${invoiceOf(before.json).id}`), { status: 200 });
});
