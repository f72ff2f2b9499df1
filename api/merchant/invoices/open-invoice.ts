import { randomBytes } from "node:crypto";
import type { SigningKey } from "ethers/crypto";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import { depositBoxAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { type FeeOrder, orderId, orderRef, signOrder } from "../../../lib/fee-collector/fee-order.ts";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { base62 } from "../../../lib/keys/base62.ts";
import { network } from "../../../lib/network.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import {
  onlyRow,
  readBoolean,
  readHex,
  readInteger,
  readNullable,
  readText,
  readTime,
} from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import { lockWallet } from "../orders/order-store.ts";
import { createUuid, publicId } from "../public-id.ts";
import { expiresInMinutesDefault, type InvoiceBody } from "./invoice-body.ts";
import { feeOf, priceInWei } from "./price.ts";
import type { Rate } from "./rates.ts";

/** After its end an invoice's box is watched for so long. */
const watchSeconds = 86_400;
const payTokenBytes = 16;
const payTokenChars = 22;

/** What asks for an invoice: a key, by its UUID, or a page's form, which makes one however often it is sent. */
export type InvoiceMaker = { keyId: string } | { formHash: Buffer };

type NewInvoice = {
  wallet: string;
  by: InvoiceMaker;
  body: InvoiceBody;
  rate: Rate;
  feeBasisPoints: number;
  openMax: number;
  /** Of a wallet, with those that are paid, expired or cancelled and still watched. */
  watchedMax: number;
  /** Of all wallets: what the ledger looks at. */
  boxesMax: number;
  feeCollector: string;
  signingKey: SigningKey;
  /** The time that the chain's next block will not be before. */
  nowMs: number;
};

/**
 * Makes an invoice with its signed order and deposit address, or says why there is none. Inside a transaction, under the wallet's
 * lock, so that two at once count each other and see each other's references, and a form that was sent twice its first invoice.
 *
 * @returns its UUID.
 */
export async function openInvoice(db: Queryable, given: NewInvoice): Promise<string | Refusal> {
  const { wallet, body, rate, feeCollector, signingKey, nowMs } = given;
  await lockWallet(db, wallet);
  const made = "formHash" in given.by ? await findByForm(db, given.by.formHash, given) : undefined;
  if (made !== undefined) return made;
  const refused =
    (await refuseOtherContract(db, feeCollector)) ??
    (await refuseAtOpenInvoices(db, given)) ??
    (await refuseAtWatchedBoxes(db, given)) ??
    (await refuseTakenReference(db, given));
  if (refused !== undefined) return refused;
  const id = createUuid({ nowMs });
  const orderUuid = createUuid({ nowMs });
  const amount = priceInWei({ amountIdr: body.amountIdr, idrPerToken: rate.idrPerToken });
  const minutes = body.expiresInMinutes ?? expiresInMinutesDefault;
  const order: FeeOrder = {
    ref: orderRef(orderUuid),
    source: "payments",
    payee: wallet,
    amount,
    fee: feeOf(amount, given.feeBasisPoints),
    validUntil: Math.floor(nowMs / 1000) + minutes * 60,
  };
  const place = { chainId: network.chainId, feeCollector };
  const idOnChain = orderId({ order, ...place });
  const signature = signOrder({ order, ...place, signingKey });
  await insertOrder(db, { id: orderUuid, idOnChain, wallet, order, signature });
  const box = depositBoxAddress({ feeCollector, id: idOnChain });
  await insertInvoice(db, { ...given, id, orderUuid, order, box });
  return id;
}

/** What is signed for one contract and followed at another would be paid and never seen. */
async function refuseOtherContract(db: Queryable, feeCollector: string): Promise<Refusal | undefined> {
  const { rows } = await db.query(
    "select fee_collector from svc.chain_epochs where epoch = svc.current_epoch()",
  );
  const [row] = rows;
  const followed = row === undefined ? undefined : checksumAddress(readHex(row, "fee_collector"));
  return followed === feeCollector ? undefined : notFollowed;
}

/** What the same form made before; a form that says something else by now makes nothing. */
async function findByForm(
  db: Queryable,
  formHash: Buffer,
  { wallet, body }: NewInvoice,
): Promise<string | Refusal | undefined> {
  const { rows } = await db.query({
    name: "invoice-by-form",
    text: `select id, (customer_label, note, coalesce(reference, ''), amount_idr, coalesce(redirect_url, '')) = ($3, $4, $5, $6::bigint, $7)
        as is_same
      from svc.invoices where wallet = $1 and form_hash = $2`,
    values: [
      ...[bytesOf(wallet), formHash, body.customerLabel ?? "", body.note ?? "", body.reference ?? ""],
      ...[body.amountIdr, body.redirectUrl ?? ""],
    ],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return readBoolean(row, "is_same") ? readText(row, "id") : formReused;
}

async function refuseAtOpenInvoices(
  db: Queryable,
  { wallet, openMax, nowMs }: NewInvoice,
): Promise<Refusal | undefined> {
  const { rows } = await db.query({
    name: "open-invoices",
    text: `select count(*)::int as open, min(expires_at) as next_end from svc.invoices
      where wallet = $1 and state = 'open' and expires_at >= $2`,
    values: [bytesOf(wallet), new Date(nowMs)],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "open") < openMax) return undefined;
  const nextEnd = readNullable(readTime, row, "next_end")?.getTime() ?? nowMs;
  return refusal(
    "rate_limited",
    `At most ${openMax} invoices of a wallet can be open: cancel one, or let one be paid or expire`,
    { retryAfterMs: Math.max(1000, nextEnd - nowMs) },
  );
}

/**
 * A box that the ledger does not look at would hide money, so there is none beyond its bound; and cancelling makes room for no
 * more than a wallet's share, or one merchant could take all of it. By the block that the ledger goes by.
 */
async function refuseAtWatchedBoxes(
  db: Queryable,
  { wallet, watchedMax, boxesMax, nowMs }: NewInvoice,
): Promise<Refusal | undefined> {
  const { rows } = await db.query({
    name: "watched-boxes",
    text: `select count(*)::int as all, count(*) filter (where wallet = $1)::int as own,
        min(watch_until) filter (where wallet = $1) as next_end
      from (select wallet, watch_until from svc.invoices
        where watch_until >= (select boxes_at from svc.chain_cursor) order by watch_until limit $2) as watched`,
    values: [bytesOf(wallet), boxesMax],
  });
  const row = onlyRow(rows);
  if (readInteger(row, "own") >= watchedMax) {
    const nextEnd = readNullable(readTime, row, "next_end")?.getTime() ?? 0;
    return refusal(
      "rate_limited",
      `At most ${watchedMax} invoices of a wallet are watched, each until a day after it ends; Retry-After tells when there is room`,
      { retryAfterMs: Math.max(1000, nextEnd - nowMs) },
    );
  }
  return readInteger(row, "all") < boxesMax ? undefined : noRoom;
}

const noRoom = refusal(
  "service_unavailable",
  "So many invoices of all merchants are watched that no more can be: try again later",
  { retryAfterMs: 60_000 },
);

async function refuseTakenReference(
  db: Queryable,
  { wallet, body }: NewInvoice,
): Promise<Refusal | undefined> {
  if (body.reference === undefined) return undefined;
  const { rows } = await db.query({
    name: "invoice-by-reference",
    text: "select id from svc.invoices where wallet = $1 and reference = $2",
    values: [bytesOf(wallet), body.reference],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const message = `The invoice ${publicId("inv", readText(row, "id"))} of yours has this reference: each has its own`;
  return refusal("invalid_params", "The reference is in use; see errors", {
    errors: [{ pointer: "/reference", message }],
  });
}

async function insertOrder(
  db: Queryable,
  {
    id,
    idOnChain,
    wallet,
    order,
    signature,
  }: { id: string; idOnChain: string; wallet: string; order: FeeOrder; signature: string },
): Promise<void> {
  await db.query({
    name: "insert-invoice-order",
    text: `insert into svc.orders (id, id_on_chain, kind, wallet, ref, source, payee, amount, fee, valid_until, signature)
      values ($1, $2, 'invoice', $3, $4, $5, $3, $6, $7, to_timestamp($8), $9)`,
    values: [
      ...[id, bytesOf(idOnChain), bytesOf(wallet), bytesOf(order.ref), order.source],
      ...[String(order.amount), String(order.fee), order.validUntil, bytesOf(signature)],
    ],
  });
}

/** Made by the clock under the lock, to the millisecond: a wallet's invoices stand in the order in which they came. */
async function insertInvoice(
  db: Queryable,
  {
    id,
    orderUuid,
    order,
    box,
    wallet,
    by,
    body,
    rate,
  }: NewInvoice & { id: string; orderUuid: string; order: FeeOrder; box: string },
): Promise<void> {
  const { amountIdr, customerLabel = "", note = "", reference = null, redirectUrl = null } = body;
  await db.query({
    name: "insert-invoice",
    text: `insert into svc.invoices (id, order_id, wallet, created_by_key, pay_token, customer_label, note, reference, amount_idr,
        idr_per_token, rate_source, rate_at, amount, box, redirect_url, expires_at, watch_until, form_hash, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, to_timestamp($16), to_timestamp($17), $18,
        date_trunc('milliseconds', clock_timestamp()))`,
    values: [
      ...[id, orderUuid, bytesOf(wallet), "keyId" in by ? by.keyId : null, createPayToken()],
      ...[customerLabel, note, reference, amountIdr],
      ...[rate.idrPerToken, rate.source, rate.at, String(order.amount), bytesOf(box), redirectUrl],
      ...[order.validUntil, order.validUntil + watchSeconds, "formHash" in by ? by.formHash : null],
    ],
  });
}

/** 128 random bits: whoever has the link may see the invoice, and nobody finds one by trying. */
function createPayToken(): string {
  return base62(BigInt(`0x${randomBytes(payTokenBytes).toString("hex")}`), payTokenChars);
}

const formReused = refusal(
  "idempotency_key_reused",
  "This form has made another invoice already: open a new one for each invoice",
);
const notFollowed = refusal(
  "service_unavailable",
  "Payments of this contract are not followed at the moment, so no invoices are made; try again later",
  { retryAfterMs: 5000 },
);
