import { z } from "zod";
import { address, amount, hash, integer } from "../../records/values.ts";
import { invoiceStates } from "../dashboard/dashboard-record.ts";
import { platformToken, tokenRecord, tokens, tokensOf } from "../orders/order-record.ts";
import { publicId } from "../public-id.ts";
import { moment, timeOf } from "../times.ts";
import { formatRupiah } from "./format-rupiah.ts";
import type { Invoice, InvoicePayment } from "./invoice.ts";

/** Of an invoice so many payments are told: anybody can send a box a wei in every block. */
export const paymentsToldMax = 100;

const paymentRecord = z
  .strictObject({
    way: z
      .enum(["contract", "box"])
      .meta({ description: "By the FeeCollector, or by a transfer to the deposit address" }),
    amountWei: amount,
    txHash: hash
      .nullable()
      .meta({ description: "Null where a contract paid: the chain keeps no trace of it" }),
    payer: address.nullable(),
    blockNumber: integer,
    at: moment.meta({ description: "The block's time" }),
    atUnix: integer,
  })
  .meta({ id: "InvoicePayment", description: "What arrived for an invoice, at once" });

export const invoiceState = z.enum(invoiceStates);

export const invoiceRecord = z
  .strictObject({
    id: z.string(),
    state: invoiceState.meta({
      description: "A summary of what has arrived and when; `late`, `dueWei` and `overpaidWei` are the facts",
    }),
    late: z.boolean().meta({ description: "Whether something arrived after the end" }),
    amountIdr: integer,
    amountIdrText: z.string().meta({ examples: [formatRupiah(150_000)] }),
    customerLabel: z.string(),
    note: z.string(),
    reference: z.string().nullable(),
    token: tokenRecord,
    amount: tokens,
    amountWei: amount,
    rate: z
      .strictObject({ idrPerToken: z.string(), source: z.string(), at: moment, atUnix: integer })
      .meta({ description: "Rupiah for one token, held until the invoice's end" }),
    receivedWei: amount,
    dueWei: amount.meta({ description: "What is missing" }),
    overpaidWei: amount.meta({ description: "What is too much; it is the merchant's" }),
    payUrl: z.url().meta({ description: "For the customer" }),
    receiptUrl: z.url(),
    depositAddress: address.meta({
      description: "Of this invoice alone: a transfer to it counts as its payment",
    }),
    createdAt: moment,
    createdAtUnix: integer,
    expiresAt: moment,
    expiresAtUnix: integer,
    watchUntil: moment.meta({ description: "Until then what arrives is seen" }),
    watchUntilUnix: integer,
    paidAt: moment.nullable().meta({ description: "When the amount was complete, by the block's time" }),
    paidAtUnix: integer.nullable(),
    payments: z.array(paymentRecord).meta({ description: `Oldest first, at most ${paymentsToldMax}` }),
    redirectUrl: z.string().nullable(),
  })
  .meta({ id: "Invoice", description: "What a customer is to pay, and what has arrived" });

export type InvoiceRecord = z.output<typeof invoiceRecord>;

/** An invoice as it is published. `publicUrl` is where customers reach this site. */
export function invoiceRecordOf({
  invoice,
  payments,
  publicUrl,
}: {
  invoice: Invoice;
  payments: readonly InvoicePayment[];
  publicUrl: string;
}): InvoiceRecord {
  const { amount: due, received, rate } = invoice;
  const payUrl = `${publicUrl.replace(/\/+$/, "")}/pay/${invoice.payToken}`;
  const [rated, created, expires, watched] = [
    timeOf(rate.at),
    timeOf(invoice.createdAt),
    timeOf(invoice.expiresAt),
    timeOf(invoice.watchUntil),
  ];
  const paid = invoice.paidAt === null ? null : timeOf(invoice.paidAt);
  return {
    id: publicId("inv", invoice.id),
    state: invoice.state,
    late: received > invoice.receivedInTime,
    amountIdr: invoice.amountIdr,
    amountIdrText: formatRupiah(invoice.amountIdr),
    customerLabel: invoice.customerLabel,
    note: invoice.note,
    reference: invoice.reference,
    token: platformToken,
    amount: tokensOf(due),
    amountWei: String(due),
    rate: { idrPerToken: rate.idrPerToken, source: rate.source, at: rated.text, atUnix: rated.unix },
    receivedWei: String(received),
    dueWei: String(received < due ? due - received : 0n),
    overpaidWei: String(received > due ? received - due : 0n),
    payUrl,
    receiptUrl: `${payUrl}/receipt`,
    depositAddress: invoice.box,
    createdAt: created.text,
    createdAtUnix: created.unix,
    expiresAt: expires.text,
    expiresAtUnix: expires.unix,
    watchUntil: watched.text,
    watchUntilUnix: watched.unix,
    paidAt: paid?.text ?? null,
    paidAtUnix: paid?.unix ?? null,
    payments: payments.map(({ way, amount: arrived, txHash, payer, blockNumber, at }) => {
      const { text, unix } = timeOf(at);
      return { way, amountWei: String(arrived), txHash, payer, blockNumber, at: text, atUnix: unix };
    }),
    redirectUrl: invoice.redirectUrl,
  };
}
