import t, { type Test } from "tap";
import { waitFor } from "../../../helpers/wait-for.ts";
import { bob } from "../../support/start-world.ts";
import { startCheckout, textOf } from "./support/start-checkout.ts";

/* Payment pages as a browser without scripts gets them. */

t.setTimeout(180_000);
const shop = await startCheckout(t);
const { api, db, anvil, create, transfer, reached, cancel } = shop;
await shop.settings("Toko Batik Sari", "halo@toko-sari.example", null);
const nbsp = "\u00a0";
const token = 10n ** 18n;

const get = (path: string, headers: Record<string, string> = {}) => api.get(path, headers);
const indonesian = { "Accept-Language": "id-ID,id;q=0.9" };
const english = { "Accept-Language": "en-GB,en;q=0.9" };

async function bothSay(t: Test, path: string, expected: { id: RegExp[]; en: RegExp[]; payable: boolean }) {
  for (const [language, headers] of [
    ["id", indonesian],
    ["en", english],
  ] as const) {
    const { text: html, status } = await get(path, headers);
    t.equal(status, 200, path);
    t.match(html, `<html lang="${language}">`);
    const text = textOf(html);
    for (const words of expected[language]) t.match(text, words, `${language} ${path}`);
    t.match(text, "Toko Batik Sari", "the shop's name");
    t.match(text, shop.wallet, "with its account");
    t.equal(html.includes("ethereum:"), expected.payable, `${language}: a code to scan`);
    t.equal(/data-transaction="\{/.test(html), expected.payable, `${language}: something for a wallet`);
    t.equal(html.includes('id="pay"'), expected.payable, `${language}: a button`);
  }
}

t.test(
  "an open one: who, how much, how long, three ways; the code asks for exactly that in this network",
  async (t) => {
    const invoice = await create({
      ...{ amountIdr: 100_000, note: "2 kain\nbatik", reference: "INV/7", customerLabel: "owes us already" },
      redirectUrl: "https://toko-sari.example/terima?no=7",
    });
    await bothSay(t, invoice.path, {
      id: [
        /Menunggu pembayaran/,
        new RegExp(`Yang harus dibayar Rp${nbsp}100.000`),
        /6,66667 TEST/,
        /1 TEST = Rp.15\.000/,
        /berlaku sampai \d+ \w+ \d{4} pukul \d\d\.\d\d WIB/,
        /2 kain batik/,
        /INV\/7/,
        /halo@toko-sari\.example/,
      ],
      en: [
        /Waiting for your payment/,
        /6\.66667 TEST/,
        /until \d+ \w+ \d{4} at \d\d:\d\d WIB/,
        /Back to toko-sari\.example/,
      ],
      payable: true,
    });
    const { text } = await get(invoice.path);
    t.match(text, `data-uri="ethereum:${invoice.depositAddress}@8845?value=6666670000000000000"`);
    t.match(text, `data-copy="6.66667"`, "with a point, as wallets take it");
    t.match(text, `data-copy="${invoice.depositAddress}"`);
    t.match(text, /<svg [^>]*viewBox/);
    t.notOk(text.includes("owes us already"), "what the merchant calls its customer is the merchant's");
    t.match(
      text,
      /<a class="button quiet" href="https:\/\/toko-sari\.example\/terima\?no=7" rel="noopener noreferrer nofollow"/,
    );
    t.notOk(/http-equiv|location=/.test(text), "nobody is sent there unasked");
  },
);

t.test("a part, then the rest, then more: each state says what is missing and what to do", async (t) => {
  const invoice = await create();
  await transfer(invoice.depositAddress, 4n * token);
  await reached(invoice.id, "underpaid");
  await bothSay(t, invoice.path, {
    id: [
      new RegExp(`Kurang Rp${nbsp}90.000`),
      /Kirim sisanya/,
      /6 TEST/,
      /sudah masuk 4 TEST/,
      /Yang sudah masuk/,
    ],
    en: [new RegExp(`Rp${nbsp}90.000 is missing`), /Send the rest/],
    payable: true,
  });
  const { text } = await get(invoice.path);
  t.match(
    text,
    `data-uri="ethereum:${invoice.depositAddress}@8845?value=6000000000000000000"`,
    "the rest alone",
  );
  t.match(text, "&quot;data&quot;:&quot;0x&quot;", "as a plain transfer, since pay() refuses what was begun");
  await transfer(invoice.depositAddress, 6n * token);
  await reached(invoice.id, "paid");
  await bothSay(t, invoice.path, {
    id: [/Lunas/, /simpan buktinya/],
    en: [/Paid/, /keep the receipt/],
    payable: false,
  });
  await transfer(invoice.depositAddress, token);
  await reached(invoice.id, "overpaid");
  await bothSay(t, invoice.path, {
    id: [new RegExp(`Lunas, lebih Rp${nbsp}15.000`), /minta toko mengembalikannya/],
    en: [new RegExp(`Paid, Rp${nbsp}15.000 too much`), /ask it to send that back/],
    payable: false,
  });
});

t.test("cancelled: nobody is asked to pay; what comes all the same is shown", async (t) => {
  const invoice = await create();
  t.equal((await cancel(invoice.id)).status, 200);
  await bothSay(t, invoice.path, {
    id: [/Dibatalkan/, /Jangan membayar lagi/],
    en: [/Cancelled/, /Do not pay any more/],
    payable: false,
  });
  await transfer(invoice.depositAddress, token);
  await reached(invoice.id, "underpaid");
  await bothSay(t, invoice.path, {
    id: [
      new RegExp(`Kurang Rp${nbsp}135.000, waktu habis`),
      /Jangan kirim lagi/,
      /Yang sudah masuk Jumlah 1 TEST/,
    ],
    en: [/Do not send more/],
    payable: false,
  });
});

t.test(
  "a payment that was sent: on its way, in a block, refused; meanwhile nobody is asked to pay again",
  async (t) => {
    const invoice = await create();
    const { text } = await get(invoice.path);
    const [, data = ""] = /data-transaction="([^"]*)"/.exec(text) ?? [];
    const call = JSON.parse(data.replaceAll("&quot;", '"'));
    const pay = async (value: string) =>
      String(await anvil.rpc("eth_sendTransaction", [{ ...call, value, from: bob, gas: "0x7a120" }]));
    const refused = await pay("0x1");
    await waitFor("it is refused", async () =>
      (await get(`${invoice.path}?tx=${refused}`)).text.includes('data-payment="reverted"'),
    );
    await bothSay(t, `${invoice.path}?tx=${refused}`, {
      id: [/tidak berhasil, dan tidak ada yang diambil\. Jumlahnya tidak tepat/],
      en: [/did not go through, and nothing was taken\. It was not exactly the amount/],
      payable: true,
    });
    const stranger = await transfer(bob, 1n);
    await bothSay(t, `${invoice.path}?tx=${stranger}`, { id: [/Menunggu/], en: [/Waiting/], payable: true });
    await bothSay(t, `${invoice.path}?tx=0x${"ab".repeat(32)}`, {
      id: [/Jaringan belum mengenal/],
      en: [/does not know your payment yet/, /I have paid nothing/],
      payable: false,
    });
    for (const wrong of ["x", "0x", "javascript:alert(1)", "%00", "a&tx=b"])
      t.match((await get(`${invoice.path}?tx=${wrong}`)).text, 'data-payment="none"', wrong);

    await anvil.rpc("evm_setAutomine", [false]);
    const sent = await pay(call.value);
    await bothSay(t, `${invoice.path}?tx=${sent}`, {
      id: [/sedang menuju sebuah blok\. Jangan membayar lagi/],
      en: [/on its way into a block\. Do not pay again/],
      payable: false,
    });
    await anvil.rpc("evm_mine");
    await anvil.rpc("evm_setAutomine", [true]);
    await reached(invoice.id, "paid");
    t.match((await get(`${invoice.path}?tx=${sent}`)).text, 'data-payment="none"');
  },
);

t.test(
  "the receipt has both amounts with their units, the rate, times, hashes, block and payer",
  async (t) => {
    const invoice = await create({ amountIdr: 100_000, note: "Kain", reference: "INV/8" });
    const before = await get(`${invoice.path}/receipt`, indonesian);
    t.match(textOf(before.text), /Bukan bukti pembayaran: ini belum lunas Keadaannya: Menunggu pembayaran/);
    t.notOk(before.text.includes('id="print"'));
    const hash = await transfer(invoice.depositAddress, invoice.amountWei);
    await reached(invoice.id, "paid");
    const text = textOf((await get(`${invoice.path}/receipt`, indonesian)).text);
    for (const words of [
      /Bukti pembayaran Lunas/,
      new RegExp(`Jumlah Rp${nbsp}100\\.000`),
      /Dalam token 6,66667 TEST/,
      /Diterima 6,66667 TEST/,
      /1 TEST = Rp.15\.000, per \d+ \w+ \d{4} pukul \d\d\.\d\d WIB/,
      /Dibayar \d+ \w+ \d{4} pukul \d\d\.\d\d WIB/,
      /Toko Batik Sari/,
      /Untuk Kain/,
      /Referensi INV\/8/,
      new RegExp(`Nomor ${invoice.id}`),
      new RegExp(`Dari ${bob}`),
      new RegExp(`Transaksi ${hash}`),
      /Blok \d+/,
    ])
      t.match(text, words);
    const { text: english8 } = await get(`${invoice.path}/receipt?lang=en`);
    t.match(english8, `<a href="../../tx/${hash}">`, "which leads to the explorer");
  },
);

t.test("late, expired and short when time is up; a payment in the last second is waited for", async (t) => {
  const soon = { expiresInMinutes: 5 };
  const [late, expired, short] = [await create(soon), await create(soon), await create(soon)];
  await transfer(short.depositAddress, token);
  await reached(short.id, "underpaid");
  const ending = await create();
  // The column rounds to seconds, perhaps up.
  await db.query(
    "update svc.invoices set expires_at = created_at - interval '1 second' where pay_token = $1",
    [ending.token],
  );
  await bothSay(t, ending.path, {
    id: [/Waktu habis/, /Jangan membayar lagi/],
    en: [/Time is up/, /Do not pay/],
    payable: false,
  });
  await anvil.rpc("evm_increaseTime", [400]);
  await anvil.rpc("evm_mine");
  await reached(expired.id, "expired");
  await bothSay(t, expired.path, {
    id: [/Kedaluwarsa/, /minta tautan baru/, /tidak hilang/],
    en: [/Expired/, /ask the shop for a new link/],
    payable: false,
  });
  await bothSay(t, short.path, {
    id: [/Kurang .*, waktu habis/, /tercatat dan diteruskan ke toko/],
    en: [/time is up/, /recorded and goes to the shop/],
    payable: false,
  });
  await transfer(late.depositAddress, late.amountWei);
  await reached(late.id, "paid_late");
  await bothSay(t, late.path, {
    id: [/Lunas, terlambat/, /setelah waktunya habis/],
    en: [/Paid late/, /ask it whether your order stands/],
    payable: false,
  });
  t.match(textOf((await get(`${late.path}/receipt`, english)).text), /after the time was up/);
});

t.test("the language: the link's, else the browser's, else the merchant's, else Indonesian", async (t) => {
  const { path } = await create();
  const languageOf = async (query = "", headers: Record<string, string> = {}) =>
    /<html lang="(\w+)">/.exec((await get(path + query, headers)).text)?.[1];
  t.equal(await languageOf("", { "Accept-Language": "" }), "id");
  t.equal(await languageOf("", { "Accept-Language": "nl" }), "id");
  t.equal(await languageOf("", { "Accept-Language": "*" }), "id");
  t.equal(await languageOf("", english), "en");
  t.equal(await languageOf("?lang=id", english), "id");
  await shop.settings("Toko Batik Sari", "", "en");
  t.equal(await languageOf("", { "Accept-Language": "nl" }), "en");
  t.equal(await languageOf("", indonesian), "id");
  t.match((await get(`${path}?lang=id`)).headers.get("set-cookie"), /tollgate_language=id/);
});

t.test("what a merchant has written stays text, whatever it is", async (t) => {
  const script = `"><script>alert(1)</script><img src=x onerror='a'>`;
  await shop.settings(script, script, null);
  const invoice = await create({
    note: script,
    reference: script.slice(0, 70),
    redirectUrl: `https://toko.example/?a=${encodeURIComponent(script)}`,
  });
  for (const path of [invoice.path, `${invoice.path}/receipt`]) {
    const { text } = await get(path);
    t.notOk(/<script>alert|<img src=x|onerror='/.test(text), path);
  }
  await db.query("update svc.invoices set redirect_url = 'javascript:alert(1)' where pay_token = $1", [
    invoice.token,
  ]);
  const { text: page } = await get(invoice.path);
  t.notOk(page.includes("javascript:"), "a row that came another way is no link");
  const contacts: [string, string | undefined][] = [
    ["halo@toko.example", "mailto:halo@toko.example"],
    ["+62 812-3456-789", "tel:+628123456789"],
    ["javascript:alert(1)", undefined],
    ["a@b.example?body=x", undefined],
    ["https://evil.example", undefined],
    ["WhatsApp 0812", undefined],
  ];
  for (const [contact, href] of contacts) {
    await shop.settings("Toko", contact, null);
    const { text } = await get(invoice.path);
    t.match(textOf(text), contact);
    t.equal(/href="((?:mailto|tel):[^"]*)"/.exec(text)?.[1], href, contact);
  }
});

t.test("an invoice of a chain that is gone is not paid any more", async (t) => {
  const invoice = await create();
  await db.query(
    `insert into svc.chain_epochs (epoch, genesis_hash, fee_collector, first_block)
       select 999, decode(repeat('ab', 32), 'hex'), fee_collector, 1 from svc.chain_epochs limit 1`,
  );
  await db.query(
    "update svc.orders set epoch = 999 where id = (select order_id from svc.invoices where pay_token = $1)",
    [invoice.token],
  );
  const { text } = await get(invoice.path, english);
  t.match(textOf(text), /No longer valid.*started anew/);
  t.notOk(text.includes("ethereum:"));
});
