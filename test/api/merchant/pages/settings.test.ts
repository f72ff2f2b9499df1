import { Wallet } from "ethers";
import t from "tap";
import { changesPerDayMax } from "../../../../api/merchant/settings/settings.ts";
import { signIn } from "../support/sign-in.ts";
import { startShop } from "../support/start-shop.ts";

/* The page of settings without scripts. */

const { api } = await startShop(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 100_000 } }),
});
const path = "/merchant/settings";
const good = { displayName: "Toko Sari", contact: "+62 812 0000 0000", language: "id" };

async function somebody() {
  const { cookie, bearer } = await signIn(api, new Wallet(Wallet.createRandom().privateKey));
  const own = { Accept: "text/html", Cookie: cookie };
  return {
    get: (headers = {}, query = "") => api.get(path + query, { ...own, ...headers }),
    kept: async () => Object((await api.get("/api/v1/svc-dev/settings", bearer)).json).settings,
    async post(form: Record<string, string>) {
      const response = await fetch(api.url + path, {
        ...{ method: "POST", headers: { ...own, Origin: "http://127.0.0.1:4000" }, redirect: "manual" },
        body: new URLSearchParams(form),
      });
      return {
        status: response.status,
        location: response.headers.get("location"),
        text: await response.text(),
      };
    },
  };
}

t.test("what is saved is shown, as customers see it", async (t) => {
  const { get, post, kept } = await somebody();
  const first = await get();
  t.match(first.text, "Customers do not learn where to ask.");
  t.match(first.text, "are forgotten a week after you first signed in");
  const saved = await post(good);
  t.same([saved.status, saved.location], [303, "../merchant/settings?done=saved"]);
  t.same(await kept(), good);
  const { text } = await get({}, "?done=saved");
  t.match(text, "The settings are saved.");
  t.match(text, '<p class="preview-name">Toko Sari</p>');
  t.match(text, '<option value="id" lang="id" selected>');
  t.match((await get({ "Accept-Language": "id" })).text, "Yang dilihat pelanggan tentang Anda");
  await post({ ...good, language: "" });
  t.same(await kept(), { ...good, language: null });
});

t.test("what cannot be saved stays in its field, with what is wrong beside it", async (t) => {
  const { get, post, kept } = await somebody();
  await post(good);
  const wrong: [Record<string, string>, RegExp][] = [
    [{ ...good, displayName: "x".repeat(61) }, /A name has at most 60 characters/],
    [{ ...good, displayName: "Bank\u202eSari" }, /A name has at most 60 characters/],
    [{ ...good, displayName: "0xf39Fd6e51aad88F6" }, /does not look like an address/],
    [{ ...good, contact: "x".repeat(121) }, /A contact has at most 120 characters/],
    [{ ...good, language: "fr" }, /Choose one of the languages/],
    [{}, /A name has at most 60 characters/],
    [{ ...good, displayName: `"><script>alert(1)</script>${"x".repeat(60)}` }, /A name has at most/],
  ];
  for (const [form, says] of wrong) {
    const page = await post(form);
    t.equal(page.status, 400, JSON.stringify(form));
    t.match(page.text, says);
    t.match(page.text, /aria-invalid="true" aria-describedby="\w+-fault \w+-hint"/);
    t.notMatch(page.text, '<p class="preview-name">', "nothing is shown as if customers saw it");
    t.notMatch(page.text, "<script>alert");
  }
  t.match((await post({ ...good, displayName: "x".repeat(61) })).text, `value="${"x".repeat(61)}"`);
  t.same(await kept(), good);
  await post({ ...good, displayName: "<b>&\"'" });
  const { text } = await get();
  t.match(text, '<p class="preview-name">&lt;b&gt;&amp;&quot;&#39;</p>');
  t.notMatch(text, "<b>");
});

t.test("too many changes are refused in words", async (t) => {
  const { post } = await somebody();
  for (let count = 0; count < changesPerDayMax; count += 1) {
    t.equal((await post({ ...good, displayName: `Toko ${count}` })).status, 303);
  }
  t.match(await post(good), { status: 429, text: /which is the most. Try again tomorrow/ });
});
