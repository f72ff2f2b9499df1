import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { findInvoiceOrder, type InvoiceOrder } from "../invoices/collect-orders.ts";
import type { Invoice, InvoicePayment } from "../invoices/invoice.ts";
import { findInvoiceByPayToken, paymentsOf } from "../invoices/invoice-store.ts";
import type { PurchaseGate } from "../purchase-gate.ts";
import { type MerchantSettings, readSettings } from "../settings/settings-store.ts";
import { type Phase, phaseOf } from "./phase.ts";

/** An invoice as whoever has its payment link sees it. */
export type CustomerInvoice = {
  invoice: Invoice;
  payments: readonly InvoicePayment[];
  merchant: MerchantSettings;
  /** What the FeeCollector takes; undefined where the invoice is of an earlier chain. */
  order: InvoiceOrder | undefined;
  phase: Phase;
  /** The chain's clock: Unix milliseconds that its next block will not be before. */
  nowMs: number;
  /** Whether payments are seen at the moment. */
  isFollowed: boolean;
};

export type Checkout = ReturnType<typeof createCheckout>;

/** 128 random bits in base62. What has another shape is looked up nowhere. */
const payTokenPattern = /^[0-9A-Za-z]{22}$/;

/** What payment links lead to. Whoever has one may see its invoice, and nothing else of the merchant. */
export function createCheckout({
  pool,
  gate,
  clock,
}: {
  pool: PostgresPool;
  gate: Pick<PurchaseGate, "paymentProblem">;
  clock: () => number;
}) {
  async function findByToken(token: string): Promise<Invoice | undefined> {
    return payTokenPattern.test(token) ? findInvoiceByPayToken(pool, token) : undefined;
  }

  return {
    clock,
    findByToken,

    /** Undefined where there is no such link. */
    async find(token: string): Promise<CustomerInvoice | undefined> {
      const invoice = await findByToken(token);
      if (invoice === undefined) return undefined;
      const [payments, merchant, order] = await Promise.all([
        paymentsOf(pool, [invoice]),
        readSettings(pool, invoice.wallet),
        findInvoiceOrder(pool, invoice.id),
      ]);
      const nowMs = clock();
      return {
        ...{ invoice, merchant, order, nowMs },
        payments: payments.get(invoice.orderId) ?? [],
        phase: phaseOf(invoice, { isOfThisChain: order !== undefined, nowMs }),
        isFollowed: gate.paymentProblem() === undefined,
      };
    },
  };
}
