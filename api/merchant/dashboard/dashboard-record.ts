import { z } from "zod";
import { address, amount, integer } from "../../records/values.ts";
import { moment } from "../times.ts";

const idr = integer.meta({ description: "Indonesian rupiah" });

export const invoiceStates = [
  "open",
  "underpaid",
  "paid",
  "overpaid",
  "expired",
  "paid_late",
  "canceled",
] as const;

const latestInvoice = z
  .strictObject({
    id: z.string(),
    state: z.enum(invoiceStates),
    amountIdr: idr,
    customerLabel: z.string(),
    reference: z.string().nullable(),
    amountWei: amount,
    receivedWei: amount,
    createdAt: moment,
    createdAtUnix: integer,
    paidAt: moment.nullable(),
    paidAtUnix: integer.nullable(),
  })
  .meta({ id: "InvoiceSummary" });

export const dashboardRecord = z
  .strictObject({
    wallet: address,
    currency: z.literal("IDR"),
    timeZone: z.literal("Asia/Jakarta"),
    invoices: z
      .strictObject({
        open: integer,
        underpaid: integer,
        paid: integer,
        overpaid: integer,
        paidLate: integer,
        expired: integer,
        canceled: integer,
      })
      .meta({ description: "How many there are of each state" }),
    received: z.strictObject({
      todayIdr: idr,
      last30DaysIdr: idr,
      totalIdr: idr.meta({ description: "Of invoices whose whole amount has arrived" }),
      totalWei: amount.meta({ description: "All that has arrived, in parts and too much included" }),
    }),
    series: z
      .array(z.strictObject({ date: z.iso.date(), paid: integer, amountIdr: idr, amountWei: amount }))
      .meta({ description: "The last 30 days, oldest first: invoices that became complete on each" }),
    latest: z.array(latestInvoice).meta({ description: "The five newest invoices" }),
    keys: z.strictObject({ active: integer, max: integer }),
    webhook: z.strictObject({
      state: z.enum(["none", "active", "failing", "disabled"]),
      failed24h: integer.meta({
        description: "Events of the last 24 hours that were tried and are not delivered, or were given up",
      }),
    }),
  })
  .meta({ id: "Dashboard", description: "A merchant's invoices and keys in numbers" });

export type DashboardRecord = z.output<typeof dashboardRecord>;
