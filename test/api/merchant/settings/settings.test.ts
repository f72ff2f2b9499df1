import { Wallet } from "ethers";
import t from "tap";
import { z } from "zod";
import { changesPerDayMax } from "../../../../api/merchant/settings/settings.ts";
import { readSettings } from "../../../../api/merchant/settings/settings-store.ts";
import { removeUnusedWallets } from "../../../../api/merchant/unused-rows.ts";
import { problem } from "../../support/problem.ts";
import { send, sessionPath, signIn } from "../support/sign-in.ts";
import { orderKey, startShop } from "../support/start-shop.ts";

const shop = await startShop(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const { api, db } = shop;
const path = "/api/v1/svc-dev/settings";
const sari = { displayName: "Toko Sari", contact: "WhatsApp +62 812 0000 0000", language: "id" };
const nothing = { displayName: "", contact: "", language: null };
type Bearer = Record<string, string>;
const put = (bearer: Bearer, body: object) => send(api, path, { method: "PUT", headers: bearer, body });
async function somebody() {
  const wallet = new Wallet(Wallet.createRandom().privateKey);
  return { wallet: wallet.address, ...(await signIn(api, wallet)) };
}
const bytes = (wallet: string) => Buffer.from(wallet.slice(2), "hex");
const noted = async (wallet: string) => {
  const { rows } = await db.query(
    "select about from svc.audit_log where wallet = $1 and action = 'settings.changed' order by id",
    [bytes(wallet)],
  );
  return rows.map(({ about }) => about);
};

t.test("a merchant says who it is, and each change is noted", async (t) => {
  const { wallet, bearer } = await somebody();
  t.same((await api.get(path, bearer)).json, { settings: nothing }, "nothing, at first");
  const saved = await put(bearer, sari);
  t.same([saved.status, saved.json], [200, { settings: sari }]);
  t.same((await api.get(path, bearer)).json, { settings: sari });
  t.same(await readSettings(db, wallet), sari, "as a customer's page reads it");
  await put(bearer, sari);
  t.same(await noted(wallet), [sari], "the same again is no change");
  await put(bearer, nothing);
  t.same((await api.get(path, bearer)).json, { settings: nothing });
  t.same(await noted(wallet), [sari, { ...nothing, language: "" }]);
  const { bearer: other } = await somebody();
  t.same((await api.get(path, other)).json, { settings: nothing }, "another wallet has its own");
});

t.test("what a reader would not see, or would take for something else, is no name", async (t) => {
  const { bearer } = await somebody();
  const wrong = {
    "61 characters": "x".repeat(61),
    "a NUL": "Toko\u0000",
    "a line break": "Toko\nBank",
    "a direction that is turned": "Toko \u202ekihsarab\u202c",
    "an isolated direction": "Toko \u2067x\u2069",
    "a mark of direction": "Toko\u200f",
    "a space of no width": "Toko\u200bSari",
    "a joiner between letters": "To\u200dko",
    "a soft hyphen": "To\u00adko",
    "a Hangul filler": "\u3164",
    "an empty Braille sign": "\u2800",
    "a tag": "Toko\u{e0041}",
    "a variation of a letter": "T\ufe0foko",
    "a private character": "\ue000",
    "half a character": "\ud800",
    "marks that are piled up": `o${"\u0336".repeat(4)}`,
    "an address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    "the beginning of one": "Toko 0xf39…",
    "one with another alphabet's x": "0\u0445f39Fd6e51aad88F6",
    "one without its beginning": "f39Fd6e51aad88F6F4ce6aB8",
    "a number": 5,
  };
  for (const [what, displayName] of Object.entries(wrong)) {
    const answer = await put(bearer, { ...sari, displayName });
    t.equal(answer.status, 400, what);
    t.same(
      problem.parse(answer.json).errors?.map(({ pointer }) => pointer),
      ["/displayName"],
      what,
    );
  }
  const bodies: [object, string][] = [
    [{ ...sari, contact: "x".repeat(121) }, "/contact"],
    [{ ...sari, contact: "a\u202eb" }, "/contact"],
    [{ ...sari, language: "fr" }, "/language"],
    [{ ...sari, website: "https://x.example" }, "/website"],
    [{ displayName: "Toko", contact: "" }, "/language"],
    [{}, "/displayName"],
  ];
  for (const [body, pointer] of bodies) {
    const answer = await put(bearer, body);
    t.equal(answer.status, 400, pointer);
    t.ok(problem.parse(answer.json).errors?.some((error) => error.pointer === pointer));
  }
  t.same((await api.get(path, bearer)).json, { settings: nothing }, "nothing was saved");
});

t.test("names of the world are names, as they are read", async (t) => {
  const names: [string, string][] = [
    ["  Toko   Sari ", "Toko Sari"],
    ["Toko\u00a0Sari", "Toko Sari"],
    ["Cafe\u0301 Bali", "Café Bali"],
    ["Warung 👩\u200d🍳 & ❤️\u200d🔥", "Warung 👩\u200d🍳 & ❤️\u200d🔥"],
    ["ꦮꦫꦸꦁ ꦱꦫꦶ", "ꦮꦫꦸꦁ ꦱꦫꦶ"],
    ["ร้านกาแฟ ที่นี่", "ร้านกาแฟ ที่นี่"],
    ["مطعم سارة", "مطعم سارة"],
    ["10x Fashion", "10x Fashion"],
    ["😀".repeat(60), "😀".repeat(60)],
    ['<b>"Sari" & Co</b>', '<b>"Sari" & Co</b>'],
  ];
  for (const [given, kept] of names) {
    const { bearer } = await somebody();
    t.match((await put(bearer, { ...sari, displayName: given })).json, { settings: { displayName: kept } });
    t.match((await api.get(path, bearer)).json, { settings: { displayName: kept } });
  }
});

t.test("changes of a wallet are limited, so that nobody fills what is kept of them", async (t) => {
  const { wallet, bearer } = await somebody();
  for (let count = 0; count < changesPerDayMax - 5; count += 1) {
    t.equal((await put(bearer, { ...sari, displayName: `Toko ${count}` })).status, 200);
  }
  const atOnce = await Promise.all(
    Array.from({ length: 20 }, (_, index) => put(bearer, { ...sari, displayName: `Kios ${index}` })),
  );
  t.equal(atOnce.filter(({ status }) => status === 200).length, 5, "also where they come at once");
  const refused = atOnce.find(({ status }) => status === 429);
  t.match(problem.parse(refused?.json), { code: "rate_limited", detail: /20 changes/ });
  const retryAfter = Number(refused?.headers.get("retry-after"));
  t.ok(retryAfter > 86_000 && retryAfter <= 86_400, String(retryAfter));
  t.equal((await noted(wallet)).length, changesPerDayMax);
  await db.query("update svc.audit_log set at = at - interval '1 day' where wallet = $1", [bytes(wallet)]);
  t.equal((await put(bearer, sari)).status, 200, "a day later there are new ones");
});

t.test("settings alone keep no wallet: they and what was noted of them go a week later", async (t) => {
  const [gone, kept, here] = [await somebody(), await somebody(), await somebody()];
  for (const { bearer } of [gone, kept, here]) await put(bearer, sari);
  await orderKey(api, kept.bearer);
  for (const { bearer } of [gone, kept]) await send(api, sessionPath, { method: "DELETE", headers: bearer });
  const sweep = removeUnusedWallets(db);
  await sweep();
  t.same(await readSettings(db, gone.wallet), sari, "not yet");
  await db.query("update svc.wallets set created_at = now() - interval '8 days'");
  await sweep();
  t.same(await readSettings(db, gone.wallet), nothing);
  t.same(await noted(gone.wallet), []);
  for (const { wallet } of [kept, here]) {
    t.same(await readSettings(db, wallet), sari, "whoever has an order, or is signed in, is known still");
    t.equal((await noted(wallet)).length, 1);
  }
});

t.test("settings are the wallet's alone", async (t) => {
  for (const method of ["GET", "PUT"]) {
    const answer = await send(api, path, { method, ...(method === "PUT" ? { body: sari } : {}) });
    t.equal(answer.status, 401, method);
  }
  const options = await fetch(`${api.url}${path}`, {
    method: "OPTIONS",
    headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "PUT" },
  });
  t.match(options.headers.get("access-control-allow-methods"), "PUT");
  t.equal(
    z.string().parse((await send(api, path, { method: "PATCH" })).headers.get("allow")),
    "GET, HEAD, PUT",
  );
});
