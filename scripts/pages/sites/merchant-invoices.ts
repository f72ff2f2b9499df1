import { createHash } from "node:crypto";
import { z } from "zod";
import { invoiceRecord } from "../../../api/merchant/invoices/invoice-record.ts";
import { idOf } from "../../../api/merchant/public-id.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import type { OwnAnvil } from "../../processes/own-anvil.ts";

type Invoice = z.output<typeof invoiceRecord>;

const answer = z.object({ invoice: invoiceRecord });
const bookedWithinMs = 30_000;

export type InvoicePaths = Readonly<
  Record<
    "openInvoice" | "underpaid" | "paidInvoice" | "overpaid" | "expiredInvoice" | "late" | "canceled",
    string
  >
>;

/** Invoices in each of their states, made by a key, paid on the chain from `payer`, and some of the weeks before. */
export async function fillInvoices({
  url,
  secret,
  anvil,
  db,
  payer,
}: {
  url: string;
  secret: string;
  anvil: OwnAnvil;
  db: Pick<Queryable, "query">;
  payer: string;
}): Promise<InvoicePaths> {
  const headers = { "Content-Type": "application/json", "X-Svc-Dev-Key": secret };
  const api = `${url}/api/v1/svc-dev/v1/invoices`;
  const ask = async (path: string, init: RequestInit = {}): Promise<Invoice> =>
    answer.parse(await (await fetch(`${api}${path}`, { headers, ...init })).json()).invoice;
  const make = (body: object) => ask("", { method: "POST", body: JSON.stringify(body) });
  const pay = ({ depositAddress }: Invoice, wei: bigint) =>
    anvil.rpc("eth_sendTransaction", [{ from: payer, to: depositAddress, value: `0x${wei.toString(16)}` }]);
  const change = (invoice: Invoice, set: string) =>
    db.query(`update svc.invoices set ${set} where id = $1`, [idOf("inv").parse(invoice.id)]);
  const until = async (invoice: Invoice, state: Invoice["state"]) => {
    const endMs = performance.now() + bookedWithinMs;
    while ((await ask(`/${invoice.id}`)).state !== state) {
      if (performance.now() > endMs) throw new Error(`${invoice.id} does not become ${state}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return `/merchant/invoices/${invoice.id}`;
  };
  // Time is not moved ahead for it: everything else would run out as well.
  const runOut = (invoice: Invoice) =>
    change(invoice, "created_at = now() - interval '2 hours', expires_at = now() - interval '90 minutes'");

  for (let days = 1; days < 28; days += 1) {
    // The same bars each time.
    const sold = createHash("sha256").update(String(days)).digest().readUInt8(0);
    if (sold % 3 === 0) continue;
    const invoice = await make({ amountIdr: 50_000 + sold * 2000, customerLabel: `Pelanggan ${days}` });
    await change(
      invoice,
      `state = 'paid', received = amount, received_in_time = amount, booked = amount,
       created_at = now() - interval '${days} days', paid_at = now() - interval '${days} days'`,
    );
  }
  const expired = await make({ amountIdr: 45_000, customerLabel: "Pak Budi" });
  const late = await make({ amountIdr: 120_000, reference: "INV/2026/0097", customerLabel: "CV Sinar Jaya" });
  for (const invoice of [expired, late]) await runOut(invoice);
  const canceled = await make({ amountIdr: 300_000, customerLabel: "Toko Maju" });
  await ask(`/${canceled.id}/cancel`, { method: "POST" });
  const underpaid = await make({
    amountIdr: 250_000,
    reference: "INV/2026/0098",
    customerLabel: "Warung Bu Tini",
  });
  const paid = await make({ amountIdr: 185_000, reference: "INV/2026/0099", customerLabel: "Ibu Dewi" });
  const overpaid = await make({ amountIdr: 75_000, customerLabel: "Pak Agus" });
  const open = await make({
    ...{ amountIdr: 1_250_000, reference: "INV/2026/0100", customerLabel: "Ibu Sari" },
    ...{ note: "2 kain batik tulis\n1 selendang sutra", redirectUrl: "https://toko.example/terima-kasih" },
    expiresInMinutes: 1440,
  });
  await pay(underpaid, BigInt(underpaid.amountWei) / 2n);
  await pay(paid, BigInt(paid.amountWei));
  await pay(overpaid, (BigInt(overpaid.amountWei) * 6n) / 5n);
  await pay(late, BigInt(late.amountWei));
  return {
    openInvoice: `/merchant/invoices/${open.id}`,
    underpaid: await until(underpaid, "underpaid"),
    paidInvoice: await until(paid, "paid"),
    overpaid: await until(overpaid, "overpaid"),
    late: await until(late, "paid_late"),
    expiredInvoice: await until(expired, "expired"),
    canceled: `/merchant/invoices/${canceled.id}`,
  };
}
