import t from "tap";
import { checkoutRoutes } from "../../../../api/merchant/checkout/create-checkout-pages.ts";
import { problem } from "../../support/problem.ts";
import { send } from "../support/sign-in.ts";
import { startCheckout, textOf } from "./support/start-checkout.ts";

/* Payment pages for who has no link, another one, or more than a link. */

const points = 60;
const shop = await startCheckout(t, {
  change: (config) => ({ ...config, limits: { ...config.limits, points: 10_000 } }),
});
const { api, create, services } = shop;
const invoice = await create({ note: "only for who has the link" });
const paths = (token: string) => [
  ...checkoutRoutes.map(({ path }) => path.replace(":token", token)),
  `/pay/${token}/events`,
];

t.test("a link that leads nowhere is a page that says what to do, whatever stands in it", async (t) => {
  const tokens = [
    "0".repeat(22),
    invoice.token.slice(0, 21),
    `${invoice.token}x`,
    invoice.token.toLowerCase() === invoice.token ? invoice.token.toUpperCase() : invoice.token.toLowerCase(),
    "%00",
    "%27%20or%201%3D1",
    "..%2f..%2fmerchant",
    invoice.id,
    "é".repeat(22),
  ];
  for (const token of tokens) {
    for (const path of paths(token)) {
      const answer = await api.get(path);
      t.equal(answer.status, 404, path);
      t.equal(answer.headers.get("cache-control"), "no-store", path);
      if (path.endsWith("/events")) problem.passthrough().parse(answer.json);
      else t.match(textOf(answer.text), /tidak menuju ke mana-mana.*minta yang baru kepada toko/, path);
      t.notOk(answer.text.includes("only for who has the link"), path);
    }
  }
  for (const path of [`/pay/${"a".repeat(3000)}`, "/pay/%E0%A4%A", "/pay/", "/pay"])
    t.ok([400, 404, 414].includes((await api.get(path)).status), path.slice(0, 30));
  t.match(
    textOf((await api.get(`/pay/${"0".repeat(22)}?lang=en`)).text),
    /leads nowhere.*Pay nothing until then/,
  );
});

t.test(
  "a page is kept by nobody, found by no search, framed by nobody, and tells no site where it is",
  async (t) => {
    for (const path of checkoutRoutes.map((route) => route.path.replace(":token", invoice.token))) {
      const { headers, status } = await api.get(path);
      t.equal(status, 200, path);
      t.equal(headers.get("cache-control"), "no-store");
      t.equal(headers.get("referrer-policy"), "no-referrer");
      t.equal(headers.get("x-robots-tag"), "noindex, nofollow");
      t.notOk(headers.has("access-control-allow-credentials"));
      const policy = headers.get("content-security-policy") ?? "";
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
      ])
        t.ok(policy.includes(rule), `${path}: ${rule}`);
    }
  },
);

t.test("a link shows its invoice, and opens nothing else", async (t) => {
  for (const path of paths(invoice.token)) {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"])
      t.ok([404, 405].includes((await send(api, path, { method, body: {} })).status), `${method} ${path}`);
  }
  const { text } = await api.get(invoice.path);
  t.notOk(/svc_(?:dev|live)_|wst_|customerLabel/.test(text));
  for (const as of ["X-Svc-Dev-Key", "Authorization"]) {
    const value = as === "Authorization" ? `Bearer ${invoice.token}` : invoice.token;
    t.equal((await api.get("/api/v1/svc-dev/v1/invoices", { [as]: value })).status, 401, "it is no key");
  }
});

t.test("trying links is charged to whoever tries, by address", async (t) => {
  const { startApi } = await import("../../support/start-api.ts");
  const limited = await startApi(t, {
    ...services,
    change: (config) => ({ ...config, stalledAfterMs: 86_400_000, limits: { ...config.limits, points } }),
  });
  const statuses: number[] = [];
  for (let asked = 0; asked < points + 5; asked += 1) {
    const path = asked % 2 === 0 ? `/pay/${"0".repeat(22)}` : `/pay/${"0".repeat(22)}/events`;
    statuses.push((await limited.get(path)).status);
  }
  t.ok(statuses.filter((status) => status === 404).length <= points);
  t.same(statuses.slice(-2), [429, 429]);
  const refused = await limited.get(invoice.path, { "Accept-Language": "en" });
  t.equal(refused.status, 429);
  t.ok(refused.headers.has("retry-after"));
  t.match(textOf(refused.text), /Wait \d+ s, then load the page again\. What was paid is not lost/);
});
