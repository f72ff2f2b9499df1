import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { publicId } from "../../../api/merchant/public-id.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readHex, readInteger } from "../../../lib/postgres/row.ts";
import { outcomes, type PaidInvoice } from "./invoice-payer.ts";
import type { CrashMerchant } from "./merchants.ts";
import type { Note } from "./receiver.ts";

/* What receivers must have been told, reckoned from how invoices were paid, in words of what is not so. */

const common = { id: z.string(), sequence: z.int(), timestamp: z.string() };
const eventSchema = z.discriminatedUnion("type", [
  z.object({
    ...common,
    type: z.literal("payment.completed"),
    data: z.object({
      payment: z.object({
        ...{ kind: z.literal("invoice"), orderId: z.string(), invoiceId: z.string(), amountWei: z.string() },
        ...{ blockNumber: z.int(), paidAtUnix: z.int() },
      }),
    }),
  }),
  z.object({
    ...common,
    type: z.literal("invoice.paid"),
    data: z.object({
      invoice: z.object({
        ...{ id: z.string(), state: z.enum(["paid", "overpaid", "paid_late"]), amountWei: z.string() },
        ...{ receivedWei: z.string(), paidAtUnix: z.int() },
      }),
    }),
  }),
]);
type Event = z.output<typeof eventSchema>;
type Rpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** Each event arrived, under one id and with the same bytes each time, numbered without a gap; and none of what did not happen. */
export async function checkReceived(
  rpc: Rpc,
  merchants: readonly CrashMerchant[],
  invoices: readonly PaidInvoice[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const [index, merchant] of merchants.entries()) {
    const own = invoices.filter(({ shop }) => shop.order.payee === `0x${merchant.wallet.toString("hex")}`);
    const found = [
      ...checkNotes(merchant),
      ...checkEventsOf(merchant.receiver.taken.flatMap(readEvent), own),
      ...(await checkTimes(rpc, merchant.receiver.taken.flatMap(readEvent))),
    ];
    broken.push(...found.map((what) => `receiver ${index}: ${what}`));
  }
  return broken;
}

/** All that came is signed, with both schemes, and what has the same id is the same. */
function checkNotes({ secret, receiver }: CrashMerchant): string[] {
  const bodies = new Map<string, string>();
  const broken = new Set<string>();
  for (const note of receiver.notes) {
    const [event] = readEvent(note);
    const id = String(note.headers["webhook-id"]);
    if (event === undefined) broken.add(`${id} is no event: ${note.body}`);
    else if (event.id !== id || event.type !== note.headers["x-svc-event"]) {
      broken.add(`${id} says of itself that it is ${event.id}, ${event.type}`);
    }
    if (!isSigned(note, secret)) broken.add(`${id} is not signed`);
    if ((bodies.get(id) ?? note.body) !== note.body) broken.add(`${id} came with different bytes`);
    bodies.set(id, note.body);
  }
  return [...broken];
}

function isSigned({ headers, body }: Note, secret: string): boolean {
  const plain = createHmac("sha256", secret).update(body).digest("hex");
  if (headers["x-svc-signature"] !== `sha256=${plain}`) return false;
  try {
    const [id, timestamp, signature] = ["id", "timestamp", "signature"].map((name) =>
      String(headers[`webhook-${name}`]),
    );
    new Webhook(secret).verify(body, {
      ...{
        "webhook-id": id ?? "",
        "webhook-timestamp": timestamp ?? "",
        "webhook-signature": signature ?? "",
      },
    });
    return true;
  } catch {
    return false;
  }
}

/** What was taken is what happened: for each invoice whose amount is complete one event of each type, for others none. */
function checkEventsOf(events: readonly Event[], invoices: readonly PaidInvoice[]): string[] {
  const broken: string[] = [];
  const complete = invoices.filter(({ way, shop }) => outcomes[way].received >= shop.order.amount);
  const expected = new Map<string, { way: string; amountWei: string }>(
    complete.flatMap(({ way, shop }) => {
      const amountWei = String(shop.order.amount);
      return [
        [`payment.completed of ${publicId("ord", shop.orderId)}`, { way, amountWei }],
        [`invoice.paid of ${publicId("inv", shop.invoiceId)}`, { way, amountWei }],
      ] as const;
    }),
  );
  const byAbout = Map.groupBy(events, aboutOf);
  for (const [about, { way, amountWei }] of expected) {
    const told = byAbout.get(about) ?? [];
    const ids = new Set(told.map(({ id }) => id));
    if (ids.size !== 1) broken.push(`${about}, paid by ${way}, arrived under ${ids.size} ids`);
    for (const event of told) {
      if (amountOf(event) !== amountWei)
        broken.push(`${about} tells of ${amountOf(event)} wei, not ${amountWei}`);
    }
  }
  for (const about of byAbout.keys()) if (!expected.has(about)) broken.push(`${about} never happened`);
  const numbers = new Set(events.map(({ sequence }) => sequence));
  const missing = [...expected].findIndex((_, index) => !numbers.has(index + 1));
  if (numbers.size !== expected.size || missing !== -1) {
    broken.push(`${numbers.size} numbers of ${expected.size}, without ${missing + 1}`);
  }
  return broken;
}

function aboutOf(event: Event): string {
  const { data, type } = event;
  return `${type} of ${"payment" in data ? data.payment.orderId : data.invoice.id}`;
}

function amountOf({ data }: Event): string {
  return "payment" in data ? data.payment.amountWei : data.invoice.amountWei;
}

const blockSchema = z.object({ timestamp: z.string() });

/** The time that is told of a payment is its block's. */
async function checkTimes(rpc: Rpc, events: readonly Event[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { id, data } of events) {
    if (!("payment" in data)) continue;
    const { blockNumber, paidAtUnix } = data.payment;
    const block = blockSchema.parse(
      await rpc("eth_getBlockByNumber", [`0x${blockNumber.toString(16)}`, false]),
    );
    if (Number(block.timestamp) !== paidAtUnix)
      broken.push(`${id} tells of ${paidAtUnix}, not ${block.timestamp}`);
  }
  return broken;
}

function readEvent({ body }: Note): Event[] {
  try {
    return [eventSchema.parse(JSON.parse(body))];
  } catch {
    return [];
  }
}

/** Every wallet's events are numbered 1, 2, 3 … and each that is paid has its own, whether somebody is told of it or not. */
export async function checkNumbers(db: Pick<Queryable, "query">): Promise<string[]> {
  const { rows } = await db.query(
    `select wallet, s.last, count(e.id)::int as count, coalesce(max(e.sequence), 0) as most
     from svc.event_sequences s full join svc.webhook_events e using (wallet) group by wallet, s.last
     having s.last is null or count(e.id) <> s.last or max(e.sequence) <> s.last`,
  );
  const broken = rows.map(
    (row) => `${readHex(row, "wallet")} has ${readInteger(row, "count")} events, with a gap`,
  );
  const { rows: orders } = await db.query(
    `select o.id, count(e.id)::int as count from svc.orders o left join svc.webhook_events e on e.order_id = o.id
     group by o.id having count(e.id) <> case when o.paid_at is null then 0 when o.kind = 'invoice' then 2 else 1 end`,
  );
  for (const row of orders) broken.push(`order ${String(row["id"])} has ${readInteger(row, "count")} events`);
  return broken;
}
