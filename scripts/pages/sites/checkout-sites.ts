import { pino } from "pino";
import { z } from "zod";
import { saveSettings } from "../../../api/merchant/settings/settings-store.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { once, type Site } from "./explorer-sites.ts";
import { createInvoiceClient, type InvoiceClient, type MadeInvoice } from "./invoice-client.ts";
import { merchants, startMerchantApi } from "./merchant-sites.ts";

const silent = pino({ level: "silent" });
const { alice, bob, carol } = merchants;
const order = {
  amountIdr: 150_000,
  note: "2 kain batik tulis\nUkuran L",
  reference: "INV/2026/117",
  redirectUrl: "https://toko-sari.example/terima-kasih?no=117",
};
/** Beyond the shortest invoice's end. */
const forwardSeconds = 400;

const states = [
  "waiting",
  "short",
  "ending",
  "shortOver",
  "paid",
  "overpaid",
  "late",
  "expired",
  "canceled",
  "sent",
  "reverted",
  "plain",
] as const;

export type CheckoutSite = Site & { paths: Readonly<Record<(typeof states)[number], string>> };

/** The transaction that a payment page gives to a wallet. */
export async function payTransaction(payUrl: string): Promise<{ to: string; value: bigint; data: string }> {
  const [, text = ""] = /data-transaction="([^"]*)"/.exec(await (await fetch(payUrl)).text()) ?? [];
  const shape = z.object({ to: z.string(), value: z.string().transform(BigInt), data: z.string() });
  return shape.parse(JSON.parse(text.replaceAll("&quot;", '"')));
}

/** One API with a shop's invoices in all states. */
export function openCheckoutSites(
  t: Teardown,
  services: { redisUrl: string; createDatabase: () => Promise<string> },
): { checkout: () => Promise<CheckoutSite> } {
  return { checkout: once(() => fillShop(t, services)) };
}

async function fillShop(
  t: Teardown,
  { redisUrl, createDatabase }: { redisUrl: string; createDatabase: () => Promise<string> },
): Promise<CheckoutSite> {
  const postgresUrl = await createDatabase();
  const { url, anvil, client } = await startMerchantApi(t, { redisUrl, postgresUrl });
  const clientOf = async (wallet: typeof alice) => {
    const { token } = await client.signIn(wallet);
    const { secret } = await client.buy(wallet, token, { package: "monthly" });
    return createInvoiceClient({ url, rpcUrl: anvil.url, key: secret });
  };
  const invoices = await clientOf(alice);
  const unnamed = await clientOf(bob);
  const db = await connectPostgres({ url: postgresUrl, name: "pages", logger: silent });
  t.teardown(() => db.end());
  await saveSettings(db, {
    ...{ wallet: alice.address, displayName: "Toko Batik Sari", contact: "halo@toko-sari.example" },
    language: "id",
  });
  let made = 0;
  const create = (more: object = {}) => {
    made += 1;
    return invoices.create({ ...order, reference: `${order.reference}-${made}`, ...more });
  };
  const soon = { expiresInMinutes: 5 };
  const over = await passTime({ invoices, create: () => create(soon), anvil });
  const [paid, overpaid, short, canceled, waiting, reverted, ending, sent] = [
    await create(),
    await create(),
    await create(),
    await create(),
    await create({ expiresInMinutes: 30 }),
    await create(),
    await create(),
    await create(),
  ];
  await invoices.send(carol, await payTransaction(paid.payUrl));
  await transfer(invoices, overpaid, 60n);
  await transfer(invoices, overpaid, 50n);
  await transfer(invoices, short, 60n);
  await invoices.cancel(canceled);
  const wrong = await invoices.send(carol, { ...(await payTransaction(reverted.payUrl)), value: 1n });
  for (const [invoice, state] of [
    [paid, "paid"],
    [overpaid, "overpaid"],
    [short, "underpaid"],
  ] as const)
    await invoices.reached(invoice, state);
  const plain = await unnamed.create({ amountIdr: 1_000_000_000 });
  // No block follows in which the ledger would see it.
  await db.query("update svc.invoices set expires_at = created_at where pay_token = $1", [
    new URL(ending.payUrl).pathname.slice("/pay/".length),
  ]);
  await anvil.rpc("evm_setAutomine", [false]);
  const hash = await invoices.send(carol, await payTransaction(sent.payUrl));
  const pathOf = ({ payUrl }: MadeInvoice) => new URL(payUrl).pathname;
  return {
    url,
    paths: {
      ...{ waiting: pathOf(waiting), short: pathOf(short), ending: pathOf(ending) },
      ...{ shortOver: pathOf(over.shortOver), paid: pathOf(paid), overpaid: pathOf(overpaid) },
      ...{ late: pathOf(over.late), expired: pathOf(over.expired), canceled: pathOf(canceled) },
      ...{ sent: `${pathOf(sent)}?tx=${hash}`, reverted: `${pathOf(reverted)}?tx=${wrong}` },
      plain: pathOf(plain),
    },
  };
}

/** Three invoices whose time is over: one with nothing, one with a part, one that was paid after it. */
async function passTime({
  invoices,
  create,
  anvil,
}: {
  invoices: InvoiceClient;
  create: () => Promise<MadeInvoice>;
  anvil: { rpc(method: string, params?: readonly unknown[]): Promise<unknown> };
}) {
  const [expired, shortOver, late] = [await create(), await create(), await create()];
  await transfer(invoices, shortOver, 60n);
  await invoices.reached(shortOver, "underpaid");
  await anvil.rpc("evm_increaseTime", [forwardSeconds]);
  await anvil.rpc("evm_mine");
  await invoices.reached(expired, "expired");
  await transfer(invoices, late, 100n);
  await invoices.reached(late, "paid_late");
  return { expired, shortOver, late };
}

/** So many hundredths of the amount, to the deposit address. */
async function transfer(
  invoices: InvoiceClient,
  { depositAddress, amountWei }: MadeInvoice,
  hundredths: bigint,
): Promise<string> {
  return invoices.send(carol, { to: depositAddress, value: (amountWei * hundredths) / 100n });
}
