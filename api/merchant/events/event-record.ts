import { z } from "zod";
import { address, amount, hash, integer } from "../../records/values.ts";
import { invoiceRecord } from "../invoices/invoice-record.ts";
import { moment } from "../times.ts";

export const eventTypes = ["payment.completed", "invoice.paid", "webhook.test"] as const;
export type EventType = (typeof eventTypes)[number];

const paymentRecord = z
  .strictObject({
    kind: z.string().meta({ description: "What was paid: api_key, webhook_url or invoice" }),
    orderId: z.string(),
    invoiceId: z.string().optional().meta({ description: "Of an invoice" }),
    amount: z.string().meta({ description: "In tokens" }),
    amountWei: amount,
    payer: address.nullable().meta({ description: "null where no transaction of a single payer is known" }),
    txHash: hash.nullable(),
    blockNumber: integer,
    paidAt: moment,
    paidAtUnix: integer,
  })
  .meta({ id: "CompletedPayment", description: "An order that became complete" });

export type PaymentRecord = z.output<typeof paymentRecord>;

/** What a webhook is told, member by member; its order is that of the body's text. */
export const eventRecord = z
  .strictObject({
    type: z.enum(eventTypes),
    id: z.string().meta({ description: "`webhook-id`: the same each time" }),
    timestamp: moment,
    sequence: integer.min(1).meta({ description: "Counts a wallet's events without a gap" }),
    data: z.union([
      z.strictObject({ payment: paymentRecord }),
      z.strictObject({ invoice: invoiceRecord }),
      z.strictObject({ message: z.string() }),
    ]),
  })
  .meta({
    id: "WebhookEvent",
    description: "What a webhook is told: a payment, an invoice that is complete, or a test",
  });
