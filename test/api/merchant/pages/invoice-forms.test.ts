import { randomUUID } from "node:crypto";
import { Wallet } from "ethers";
import t from "tap";
import { z } from "zod";
import { insertRow } from "../../../../scripts/soak/merchant-crashes/insert-row.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { orderRow } from "../support/rows.ts";
import { signIn } from "../support/sign-in.ts";
import { startShop } from "../support/start-shop.ts";

const openMax = 4;
const { api, db, anvil } = await startShop(t, {
  change: (config) => ({ ...config, invoices: { ...config.invoices, openMax } }),
});
const ours = "http://127.0.0.1:4000";
const [payer = "", friend = ""] = z.array(z.string()).parse(await anvil.rpc("eth_accounts"));

/** Somebody new with a session; without a key. */
async function somebody() {
  const signer = new Wallet(Wallet.createRandom().privateKey);
  const { cookie } = await signIn(api, signer);
  const own = { Accept: "text/html", Cookie: cookie };
  async function send(path: string, form: Record<string, string> = {}) {
    const response = await fetch(`${api.url}${path}`, {
      ...{ method: "POST", headers: { ...own, Origin: ours }, redirect: "manual" },
      body: new URLSearchParams(form),
    });
    const [, id = ""] = /(inv_\w{22})/.exec(response.headers.get("location") ?? "") ?? [];
    return { status: response.status, id, text: await response.text() };
  }
  const get = (path: string) => api.get(path, own);
  const token = async () =>
    /name="token" value="([\w-]{22})"/.exec((await get("/merchant/invoices/new")).text)?.[1] ?? "";
  return {
    wallet: Buffer.from(signer.address.slice(2), "hex"),
    get,
    send,
    token,
    getBytes: async (path: string) =>
      Buffer.from(await (await fetch(`${api.url}${path}`, { headers: own })).arrayBuffer()),
    /** A new form, filled in and sent. */
    make: async (form: Record<string, string> = {}) =>
      send("/merchant/invoices", { amountIdr: "150.000", token: await token(), ...form }),
    count: async () =>
      ((await get("/merchant/invoices?limit=100")).text.match(/class="invoice-name"/g) ?? []).length,
  };
}

const boxOf = (page: string) => /data-copy="(0x[0-9a-fA-F]{40})"/.exec(page)?.[1] ?? "";
const transfer = (to: string, value: bigint, from = payer) =>
  anvil.rpc("eth_sendTransaction", [{ from, to, value: `0x${value.toString(16)}` }]);
const token = 10n ** 18n;

t.test(
  "a wallet without a key makes an invoice by a form, with all that programs can say of one",
  async (t) => {
    const { make, get } = await somebody();
    const made = await make({
      ...{
        amountIdr: " Rp 1.250.000 ",
        customerLabel: " Ibu Sari ",
        note: "2 kain\r\nbatik",
        reference: "INV/7",
      },
      ...{ redirectUrl: "https://toko.example/terima", expiresInMinutes: "60" },
    });
    t.equal(made.status, 303, made.text);
    const { status, text } = await get(`/merchant/invoices/${made.id}?done=made`);
    t.equal(status, 200);
    for (const says of [
      "The invoice is made. Send its link to the customer.",
      "Rp\u00a01.250.000",
      "INV/7, Ibu Sari",
      "2 kain\nbatik",
      "https://toko.example/terima",
      "You, on these pages",
      "Rp\u00a015.000 for 1 TEST",
    ])
      t.ok(text.includes(says), says);
    t.match(text, /http:\/\/127\.0\.0\.1:4000\/pay\/[0-9A-Za-z]{22}/);
    const { rows } = await db.query(
      "select created_by_key, note, extract(epoch from expires_at - created_at)::int as seconds from svc.invoices where reference = 'INV/7'",
    );
    t.match(rows, [{ created_by_key: null, note: "2 kain\nbatik" }]);
    t.ok(Math.abs(Number(rows[0]?.["seconds"]) - 3600) < 30);
  },
);

t.test(
  "a form that is sent again makes one invoice, also at once; one that says something else by now none",
  async (t) => {
    const { send, token: newToken, count, get } = await somebody();
    const form = { amountIdr: "20000", customerLabel: "Twice", token: await newToken() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => send("/merchant/invoices", form)));
    const [first] = answers;
    t.ok(first?.id);
    for (const { status, id } of answers) t.same({ status, id }, { status: 303, id: first?.id });
    t.equal((await send("/merchant/invoices", form)).id, first?.id);
    t.equal(await count(), 1);
    for (const change of [
      { amountIdr: "20001" },
      { customerLabel: "Other" },
      { note: "x" },
      { reference: "x" },
      { redirectUrl: "https://toko.example/" },
    ]) {
      const other = await send("/merchant/invoices", { ...form, ...change });
      t.equal(other.status, 422, JSON.stringify(change));
      t.match(other.text, "This form has made another invoice already");
    }
    t.equal(await count(), 1);
    t.match((await get("/merchant")).text, "Twice");
    // Another wallet's form with the same text is another form.
    const stranger = await somebody();
    const theirs = await stranger.send("/merchant/invoices", form);
    t.equal(theirs.status, 303);
    t.not(theirs.id, first?.id);
  },
);

t.test("what cannot be is said beside its field, what was typed stays, and nothing is made", async (t) => {
  const { make, send, count } = await somebody();
  for (const [form, says] of [
    [{ amountIdr: "" }, "A whole amount from Rp\u00a01.000 to Rp\u00a01.000.000.000 was expected"],
    [{ amountIdr: "999" }, "A whole amount from"],
    [{ amountIdr: "1.000.000.001" }, "A whole amount from"],
    [{ amountIdr: "1.50" }, "A whole amount from"],
    [{ amountIdr: "1,000.000" }, "A whole amount from"],
    [{ amountIdr: "-150000" }, "A whole amount from"],
    [{ amountIdr: "1e6" }, "A whole amount from"],
    [{ amountIdr: "9".repeat(400) }, "A whole amount from"],
    [{ customerLabel: "x".repeat(121) }, "At most 120 characters, in one line."],
    [{ note: "a\u0000b" }, "At most 500 characters."],
    [{ reference: "a\u0007b" }, "At most 80 characters, in one line."],
    [{ redirectUrl: "javascript:alert(1)" }, "An address that begins with https://"],
    [{ redirectUrl: "https://a:b@toko.example/" }, "An address that begins with https://"],
    [{ expiresInMinutes: "4" }, "Choose one of these."],
    [{ expiresInMinutes: "1e1" }, ""],
  ] as const) {
    const { status, text } = await make({ customerLabel: "<i>Kept", ...form });
    if (says === "") {
      t.equal(status, 303, "what is no number counts as nothing");
      continue;
    }
    t.equal(status, 400, JSON.stringify(form).slice(0, 60));
    t.ok(text.includes(says), says);
    t.match(text, 'aria-invalid="true"');
    if (!("customerLabel" in form)) t.match(text, 'value="&lt;i&gt;Kept"');
  }
  t.equal(await count(), 1);
  for (const bad of ["", "short", "x".repeat(23), "'; drop table--"]) {
    const { status, text } = await send("/merchant/invoices", { amountIdr: "150000", token: bad });
    t.equal(status, 400);
    t.match(text, "The form did not come whole.");
  }
  t.equal((await make({ reference: "A-1" })).status, 303);
  const taken = await make({ reference: "A-1" });
  t.equal(taken.status, 400);
  t.match(taken.text, "Another invoice of yours has this number already.");
  t.equal(await count(), 2);
});

t.test("the pages hold the bound of open invoices, and canceling one makes room", async (t) => {
  const { make, get, send } = await somebody();
  let last = "";
  for (let made = 0; made < openMax; made += 1) last = (await make()).id;
  const full = await make();
  t.equal(full.status, 429);
  t.match(full.text, "You have as many open invoices as can be.");
  const asked = await get(`/merchant/invoices/${last}/cancel`);
  t.match(asked.text, "Cancel it");
  t.equal(
    (await get(`/merchant/invoices/${last}`)).text.includes("Waits for"),
    true,
    "asking cancels nothing",
  );
  t.equal((await send(`/merchant/invoices/${last}/cancel`)).status, 303);
  t.equal((await send(`/merchant/invoices/${last}/cancel`)).status, 303, "the same again changes nothing");
  t.match((await get(`/merchant/invoices/${last}?done=canceled`)).text, "Canceled. Nothing has come.");
  t.equal((await get(`/merchant/invoices/${last}/cancel`)).status, 409);
  t.equal((await make()).status, 303);
  const { rows } = await db.query("select actor, about from svc.audit_log where action = 'invoice.canceled'");
  t.match(rows, [{ actor: "wallet" }]);
});

t.test(
  "what comes is told: a part, passed on by hand, then too much, given back to who paid last",
  async (t) => {
    const { make, get, send } = await somebody();
    const { id } = await make({ amountIdr: "150000", customerLabel: "Pak Agus" });
    const at = `/merchant/invoices/${id}`;
    const says = (text: string, path = at) =>
      waitFor(text, async () => (await get(path)).text.includes(text));
    const box = boxOf((await get(at)).text);
    t.equal((await send(`${at}/collect`)).status, 409, "nothing lies there");
    t.equal((await get(`${at}/refund`)).status, 409, "nothing has come");

    await transfer(box, 4n * token);
    await says("are missing.");
    const part = (await get(at)).text;
    t.match(part, "Rp\u00a090.000 (6 TEST) are missing.");
    t.match(part, "Pass on what has come");
    t.match((await get(`${at}/refund`)).text, `data-copy="${4n * token}"`, "all of a part can be given back");
    t.equal((await send(`${at}/cancel`)).status, 409, "what has come is not hidden");
    t.equal((await send(`${at}/collect`)).status, 303);
    await waitFor("it is passed on", async () => !(await get(at)).text.includes("Pass on what has come"));

    await transfer(box, 8n * token, friend);
    await says("too much.");
    const over = (await get(at)).text;
    t.match(over, "Paid, and Rp\u00a030.000 (2 TEST) too much.");
    t.ok(over.includes("The whole amount was there"));
    t.equal((over.match(/ came<\/strong>/g) ?? []).length, 2, "each payment");
    const refund = (await get(`${at}/refund`)).text.replaceAll("&quot;", '"');
    const [, transaction = "{}"] = /data-transaction="(\{.*?\})"/.exec(refund) ?? [];
    t.match(JSON.parse(transaction), { value: String(2n * token), data: "0x" });
    t.equal(Object(JSON.parse(transaction)).to.toLowerCase(), friend.toLowerCase());
    t.match(refund, `data-copy="${2n * token}"`);
    const other = (await get(`${at}/refund?to=${payer}`)).text.replaceAll("&quot;", '"');
    t.match(other, new RegExp(friend, "i"), "nobody who has not paid what is too much");
  },
);

t.test("the list is filtered, searched and paged, and saved as the file that programs get", async (t) => {
  const { make, get, getBytes } = await somebody();
  for (const [customerLabel, reference] of [
    ["Ibu Sari", "INV/1"],
    ["=HYPERLINK(1)", "INV/2"],
    ["Pak Budi", "INV/3"],
  ] as const)
    await make({ customerLabel, reference });
  const named = async (query: string) =>
    [
      ...(await get(`/merchant/invoices?${query}`)).text.matchAll(/class="invoice-name"><a [^>]*>([^<]*)</g),
    ].map(([, name]) => name);
  t.same(await named(""), ["Pak Budi", "=HYPERLINK(1)", "Ibu Sari"]);
  t.same(await named("q=sari"), ["Ibu Sari"]);
  t.same(await named("q=2"), ["=HYPERLINK(1)"]);
  t.same(await named("state=paid"), []);
  t.same(await named("from=2999-01-01"), []);
  for (const odd of [
    "state=none",
    "from=yesterday",
    "limit=1000",
    "cursor=x",
    "q=a&q=b",
    "state=open&state=paid",
  ])
    t.equal((await named(odd)).length, 3, `${odd} is left out`);

  const file = await get("/merchant/invoices.csv?q=inv");
  t.match(file.headers.get("content-disposition"), 'attachment; filename="invoices.csv"');
  t.match(file.headers.get("content-type"), "text/csv");
  t.equal(file.headers.get("cache-control"), "no-store");
  t.equal(file.text.trimEnd().split("\r\n").length, 4);
  t.match(file.text, ",'=HYPERLINK(1),", "a spreadsheet runs nothing of it");
  t.equal((await get("/merchant/invoices.csv?q=sari")).text.trimEnd().split("\r\n").length, 2);
  const excel = await getBytes("/merchant/invoices.csv?for=excel");
  t.same([...excel.subarray(0, 3)], [0xef, 0xbb, 0xbf], "Excel sees that it is UTF-8");
  t.match(excel.toString(), "id;createdAt;state");
});

t.test("another wallet's invoice is not there, whatever is asked of it", async (t) => {
  const [one, other] = [await somebody(), await somebody()];
  const { id } = await one.make({ customerLabel: "Secret customer", reference: "SECRET-1" });
  const at = `/merchant/invoices/${id}`;
  const answers = [
    await other.get(at),
    await other.get(`${at}/cancel`),
    await other.send(`${at}/cancel`),
    await other.send(`${at}/collect`),
    await other.get(`${at}/refund`),
    await other.get("/merchant/invoices/inv_0000000000000000000000"),
    await other.get("/merchant/invoices/x"),
  ];
  for (const { status, text } of answers) {
    t.equal(status, 404);
    t.notMatch(text, /Secret|SECRET/);
  }
  for (const path of [
    "/merchant",
    "/merchant/invoices",
    `/merchant/invoices?q=${id}`,
    "/merchant/invoices.csv",
  ])
    t.notMatch((await other.get(path)).text, /Secret|SECRET/, path);
  t.match((await one.get(at)).text, "Waits for");
  t.equal((await other.make({ reference: "SECRET-1" })).status, 303, "nor is its number taken");
});

t.test(
  "the overview says what needs the merchant, and every page that its webhook is disabled",
  async (t) => {
    const { make, get, wallet } = await somebody();
    const empty = (await get("/merchant")).text;
    for (const says of ["Nothing needs you at the moment.", "Where to begin", "Buy a key", "New invoice"])
      t.ok(empty.includes(says), says);
    const late = await make({ amountIdr: "90000", customerLabel: "Late" });
    const part = await make({ amountIdr: "150000", customerLabel: "Part" });
    await make({ amountIdr: "40000", customerLabel: "Third shop" });
    await db.query(
      "update svc.invoices set created_at = now() - interval '2 hours', expires_at = now() - interval '1 hour' where customer_label = 'Late'",
    );
    const boxOfInvoice = async (id: string) => boxOf((await get(`/merchant/invoices/${id}`)).text);
    await transfer(await boxOfInvoice(late.id), 6n * token);
    await transfer(await boxOfInvoice(part.id), 4n * token);
    await waitFor("both are booked", async () => {
      const { text } = await get("/merchant");
      return text.includes("1 invoice was paid late") && text.includes("1 invoice is underpaid");
    });
    const { text } = await get("/merchant");
    for (const says of [
      "1 invoice is underpaid: Rp\u00a090.000 are missing.",
      "1 invoice was paid late: Rp\u00a090.000.",
      "1 invoice waits for its payment",
      "1 invoice paid",
    ])
      t.ok(text.includes(says), says);
    const [, link = ""] = /href="\.\/(merchant\/invoices\?state=underpaid[^"]*)"/.exec(text) ?? [];
    const list = (await get(`/${link.replaceAll("&amp;", "&")}`)).text;
    t.match(list, "Part");
    t.notMatch(list, "Third shop");

    t.notMatch(text, "Your webhook is disabled");
    const order = randomUUID();
    await insertRow(db, "orders", orderRow(wallet, { id: order, kind: "webhook_url" }));
    await insertRow(db, "webhook_endpoints", {
      ...{
        id: randomUUID(),
        wallet,
        order_id: order,
        url: "https://shop.example/",
        secret_sealed: Buffer.from("x"),
      },
      ...{ disabled_at: new Date(), disabled_why: "failing" },
    });
    for (const path of [
      "/merchant",
      "/merchant/invoices",
      `/merchant/invoices/${part.id}`,
      "/merchant/keys",
      "/merchant/sessions",
    ])
      t.match((await get(path)).text, "Your webhook is disabled", path);
  },
);
