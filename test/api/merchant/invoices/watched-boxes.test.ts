import t from "tap";
import { z } from "zod";
import { send } from "../support/sign-in.ts";
import { buyKey, newcomer, startShop } from "../support/start-shop.ts";

const shop = await startShop(t, {
  change: (config) => ({
    ...config,
    invoices: { ...config.invoices, openMax: 2, watchedMax: 3 },
    ledger: { ...config.ledger, boxesMax: 5 },
  }),
});
const { api } = shop;
const path = "/api/v1/svc-dev/v1/invoices";
const invoice = z.object({ invoice: z.object({ id: z.string() }) });

async function merchant() {
  const { headers } = await newcomer(api);
  const { secret } = await buyKey(shop, headers, { package: "monthly" });
  const key = { "X-Svc-Dev-Key": secret };
  return {
    create: () => send(api, path, { headers: key, body: { amountIdr: 150_000 } }),
    async makeAndCancel() {
      const made = await send(api, path, { headers: key, body: { amountIdr: 150_000 } });
      const { id } = invoice.parse(made.json).invoice;
      await send(api, `${path}/${id}/cancel`, { headers: key });
    },
  };
}

t.test("cancelling makes room for no more than a wallet's share of the boxes that are watched", async (t) => {
  const greedy = await merchant();
  for (let made = 0; made < 3; made += 1) await greedy.makeAndCancel();
  const refused = await greedy.create();
  t.match(refused.json, { code: "rate_limited", detail: /At most 3 invoices of a wallet are watched/ });
  t.ok(Number(refused.headers.get("retry-after")) > 86_000);

  const other = await merchant();
  t.equal((await other.create()).status, 201, "and takes nothing of another's");
});

t.test("where the ledger can look at no more boxes no invoice is made", async (t) => {
  const last = await merchant();
  t.equal((await last.create()).status, 201);
  const refused = await last.create();
  t.match(refused.json, { status: 503, detail: /no more can be/ });
  t.ok(Number(refused.headers.get("retry-after")) > 0);
});
