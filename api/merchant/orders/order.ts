import { z } from "zod";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { FeeOrder } from "../../../lib/fee-collector/fee-order.ts";
import { isFeeSource } from "../../../lib/fee-collector/fee-sources.ts";
import { refusal } from "../../../lib/http-service/refusal.ts";
import {
  type Row,
  readBigint,
  readBoolean,
  readHex,
  readNullable,
  readText,
  readTime,
} from "../../../lib/postgres/row.ts";
import { type KeyRequest, keyRequest } from "./key-request.ts";

/** An order of a key, as the database has it. */
export type Order = PlacedOrder & { kind: "api_key"; request: KeyRequest };

/** The order of the fee for a webhook's first URL; `url` is null where the order was made before it was kept. */
export type WebhookOrder = PlacedOrder & { kind: "webhook_url"; url: string | null };

/** What a webhook's order is for, as it stands in the row. */
const webhookRequest = z.object({ url: z.string().optional() });

/** What is to be paid, whatever for. Addresses are EIP-55. */
export type PlacedOrder = {
  /** UUID. */
  id: string;
  idOnChain: string;
  wallet: string;
  terms: FeeOrder;
  signature: string;
  /** For which contract it is signed. */
  feeCollector: string;
  /** Whether the chain that it was made for is the one that is followed: on another one nobody can pay it. */
  isOfThisChain: boolean;
  createdAt: Date;
  paidAt: Date | null;
  paidTx: string | null;
  usedAt: Date | null;
};

/** The columns that `readOrder` reads, of `svc.orders o join svc.chain_epochs e using (epoch)`. */
export const orderColumns = `o.id, o.id_on_chain, o.wallet, o.ref, o.source, o.payee, o.amount, o.fee, o.valid_until, o.signature,
  o.request, o.created_at, o.paid_at, o.paid_tx, o.used_at, e.fee_collector,
  o.epoch is not distinct from svc.current_epoch() as of_this_chain`;

export function readOrder(row: Row): Order {
  return { ...readPlacedOrder(row), kind: "api_key", request: keyRequest.parse(row["request"]) };
}

export function readWebhookOrder(row: Row): WebhookOrder {
  const { url = null } = webhookRequest.parse(row["request"]);
  return { ...readPlacedOrder(row), kind: "webhook_url", url };
}

/** Of either kind; `kind` is a column beside those. */
export function readAnyOrder(row: Row): Order | WebhookOrder {
  return readText(row, "kind") === "api_key" ? readOrder(row) : readWebhookOrder(row);
}

/** What is to be paid, of a row with `orderColumns`. */
export function readPlacedOrder(row: Row): PlacedOrder {
  const source = readText(row, "source");
  if (!isFeeSource(source)) throw new Error(`an order has the source ${source}, which is none`);
  return {
    id: readText(row, "id"),
    idOnChain: readHex(row, "id_on_chain"),
    wallet: checksumAddress(readHex(row, "wallet")),
    terms: {
      ref: readHex(row, "ref"),
      source,
      payee: readNullable((from, column) => checksumAddress(readHex(from, column)), row, "payee"),
      amount: readBigint(row, "amount"),
      fee: readBigint(row, "fee"),
      validUntil: readTime(row, "valid_until").getTime() / 1000,
    },
    signature: readHex(row, "signature"),
    feeCollector: checksumAddress(readHex(row, "fee_collector")),
    isOfThisChain: readBoolean(row, "of_this_chain"),
    createdAt: readTime(row, "created_at"),
    paidAt: readNullable(readTime, row, "paid_at"),
    paidTx: readNullable(readHex, row, "paid_tx"),
    usedAt: readNullable(readTime, row, "used_at"),
  };
}

export type OrderStatus = "open" | "paid" | "used" | "expired";

/** What became of an order. `nowMs` is the time that the chain's next block will not be before. */
export function statusOf(
  {
    usedAt,
    paidAt,
    isOfThisChain,
    terms,
  }: Pick<PlacedOrder, "usedAt" | "paidAt" | "isOfThisChain" | "terms">,
  nowMs: number,
): OrderStatus {
  if (usedAt !== null) return "used";
  if (paidAt !== null) return "paid";
  return isOfThisChain && nowMs <= terms.validUntil * 1000 ? "open" : "expired";
}

/** For a session of another wallet. */
export const orderOfOther = refusal("forbidden", "This order belongs to another wallet than the session's");
