import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import {
  type Row,
  readBigint,
  readHex,
  readInteger,
  readNullable,
  readText,
  readTime,
} from "../../../lib/postgres/row.ts";
import { invoiceStates } from "../dashboard/dashboard-record.ts";
import type { InvoiceState } from "../ledger/invoice-state.ts";

/** What arrived, at once. Hex in lower case, addresses EIP-55. */
export type InvoicePayment = {
  way: "contract" | "box";
  amount: bigint;
  /** Null where the chain keeps no trace: transfers by contracts. */
  txHash: string | null;
  payer: string | null;
  blockNumber: number;
  at: Date;
};

/** An invoice as the database has it, amounts in wei. */
export type Invoice = {
  /** UUID. */
  id: string;
  orderId: string;
  wallet: string;
  state: InvoiceState;
  payToken: string;
  amountIdr: number;
  customerLabel: string;
  note: string;
  reference: string | null;
  redirectUrl: string | null;
  rate: { idrPerToken: string; source: string; at: Date };
  amount: bigint;
  received: bigint;
  receivedInTime: bigint;
  box: string;
  createdAt: Date;
  /** The same to the microsecond: where a page of a list ended. */
  createdAtMicros: bigint;
  expiresAt: Date;
  watchUntil: Date;
  paidAt: Date | null;
  canceledAt: Date | null;
};

/** The columns that `readInvoice` reads, of `svc.invoices i`. */
export const invoiceColumns = `i.id, i.order_id, i.wallet, i.state, i.pay_token, i.amount_idr, i.customer_label, i.note, i.reference,
  i.redirect_url, trim_scale(i.idr_per_token)::text as idr_per_token, i.rate_source, i.rate_at, i.amount, i.received,
  i.received_in_time, i.box, i.created_at, (extract(epoch from i.created_at) * 1000000)::bigint as created_at_micros,
  i.expires_at, i.watch_until, i.paid_at, i.canceled_at`;

export function readInvoice(row: Row): Invoice {
  return {
    id: readText(row, "id"),
    orderId: readText(row, "order_id"),
    wallet: checksumAddress(readHex(row, "wallet")),
    state: readState(row),
    payToken: readText(row, "pay_token"),
    amountIdr: readInteger(row, "amount_idr"),
    customerLabel: readText(row, "customer_label"),
    note: readText(row, "note"),
    reference: readNullable(readText, row, "reference"),
    redirectUrl: readNullable(readText, row, "redirect_url"),
    rate: {
      idrPerToken: readText(row, "idr_per_token"),
      source: readText(row, "rate_source"),
      at: readTime(row, "rate_at"),
    },
    amount: readBigint(row, "amount"),
    received: readBigint(row, "received"),
    receivedInTime: readBigint(row, "received_in_time"),
    box: checksumAddress(readHex(row, "box")),
    createdAt: readTime(row, "created_at"),
    createdAtMicros: readBigint(row, "created_at_micros"),
    expiresAt: readTime(row, "expires_at"),
    watchUntil: readTime(row, "watch_until"),
    paidAt: readNullable(readTime, row, "paid_at"),
    canceledAt: readNullable(readTime, row, "canceled_at"),
  };
}

export function readPayment(row: Row): InvoicePayment {
  return {
    way: readText(row, "way") === "contract" ? "contract" : "box",
    amount: readBigint(row, "amount"),
    txHash: readNullable(readHex, row, "tx_hash"),
    payer: readNullable((from, column) => checksumAddress(readHex(from, column)), row, "payer"),
    blockNumber: readInteger(row, "block_number"),
    at: readTime(row, "block_at"),
  };
}

function readState(row: Row): InvoiceState {
  const text = readText(row, "state");
  const state = invoiceStates.find((name) => name === text);
  if (state === undefined) throw new Error(`an invoice has the state ${text}, which is none`);
  return state;
}
