import { z } from "zod";
import { feeCollectorInterface } from "../../../lib/fee-collector/artifacts.ts";
import { burnSinkAddress } from "../../../lib/fee-collector/fee-addresses.ts";
import { type FeeEvent, readFeeEvent } from "../../../lib/fee-collector/read-fee-event.ts";
import { hashApiKey } from "../../../lib/keys/api-key.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import {
  onlyRow,
  type Row,
  readBigint,
  readHex,
  readInteger,
  readNullable,
  readText,
} from "../../../lib/postgres/row.ts";
import type { CrashReplica } from "../crash-replica.ts";
import { until } from "../follower-crashes/until.ts";
import { outcomes, type PaidInvoice } from "./invoice-payer.ts";
import type { BuyerFindings } from "./key-buyer.ts";

/* What must hold after a run, in words of what does not. */

type Db = Pick<Queryable, "query">;
type Rpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** Each invoice came to what its payments make, by the chain's own word. */
export async function checkInvoices(db: Db, rpc: Rpc, invoices: readonly PaidInvoice[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { way, shop } of invoices) {
    const { rows } = await db.query(
      `select state, received, received_in_time, booked, orders.paid_at is not null as is_paid, amounts.sum, amounts.in_time
       from svc.invoices join svc.orders on orders.id = order_id,
         lateral (select coalesce(sum(amount), 0)::numeric as sum,
           coalesce(sum(amount) filter (where in_time), 0)::numeric as in_time
           from svc.payments where payments.order_id = orders.id) as amounts
       where orders.id = $1`,
      [shop.orderId],
    );
    const [row] = rows;
    if (row === undefined) {
      broken.push(`the invoice paid by ${way} is gone`);
      continue;
    }
    const lies = BigInt(String(await rpc("eth_getBalance", [shop.box, "latest"])));
    const passedOn = await bookedOnChain(rpc, shop);
    const { received, inTime, state } = outcomes[way];
    const expected = {
      state,
      received,
      inTime,
      payments: received,
      paymentsInTime: inTime,
      onChain: received,
      booked: passedOn,
      isPaid: received >= shop.order.amount,
    };
    const seen = {
      state: readText(row, "state"),
      received: readBigint(row, "received"),
      inTime: readBigint(row, "received_in_time"),
      payments: readBigint(row, "sum"),
      paymentsInTime: readBigint(row, "in_time"),
      onChain: lies + passedOn,
      booked: readBigint(row, "booked"),
      isPaid: row["is_paid"] === true,
    };
    if (text(seen) !== text(expected))
      broken.push(`paid by ${way}: ${text(seen)} in place of ${text(expected)}`);
  }
  return broken;
}

async function bookedOnChain(rpc: Rpc, { id, feeCollector }: PaidInvoice["shop"]): Promise<bigint> {
  const data = feeCollectorInterface.encodeFunctionData("booked", [id]);
  const answer = z.string().parse(await rpc("eth_call", [{ to: feeCollector, data }, "latest"]));
  return z.bigint().parse(feeCollectorInterface.decodeFunctionResult("booked", answer)[0]);
}

const logsSchema = z.array(
  z.object({
    ...{ topics: z.array(z.string()), data: z.string() },
    ...{ transactionHash: z.string(), logIndex: z.string() },
  }),
);

/** Each event of the FeeCollector is booked once, and the burn sink has what they say, to the wei. */
export async function checkEvents(db: Db, rpc: Rpc, feeCollector: string): Promise<string[]> {
  const broken: string[] = [];
  const filter = { fromBlock: "0x0", toBlock: "latest", address: feeCollector };
  const events = logsSchema.parse(await rpc("eth_getLogs", [filter])).flatMap((log) => {
    const event = readFeeEvent(log);
    return event === undefined ? [] : [{ event, place: `${log.transactionHash} ${Number(log.logIndex)}` }];
  });
  const paid = events.filter(({ event }) => event.kind === "paid").map(({ place }) => place);
  const { rows } = await db.query("select tx_hash, log_index from svc.payments where way = 'contract'");
  const booked = rows.map((row) => `${readHex(row, "tx_hash")} ${readInteger(row, "log_index")}`);
  if (text(paid.toSorted()) !== text(booked.toSorted())) {
    broken.push(`${paid.length} payments on the chain, of which ${booked.length} are booked`);
  }
  const burned = events.reduce((sum, { event }) => sum + event.burned, 0n);
  const sink = BigInt(String(await rpc("eth_getBalance", [burnSinkAddress, "latest"])));
  if (burned !== sink) broken.push(`${burned} wei were burned, the sink has ${sink}`);
  const { rows: sums } = await db.query(
    "select coalesce(sum(burned), 0)::numeric as burned from chain.burn_total",
  );
  const told = readBigint(onlyRow(sums), "burned");
  if (told !== burned) broken.push(`${burned} wei were burned, the index has ${told}`);
  broken.push(
    ...(await checkOrdersOf(
      db,
      events.map(({ event }) => event),
    )),
  );
  return broken;
}

/** Fees of the chain's events are fees of the database's orders. */
async function checkOrdersOf(db: Db, events: readonly FeeEvent[]): Promise<string[]> {
  const ids = [...new Set(events.map(({ id }) => id))];
  const { rows } = await db.query(
    "select id_on_chain, kind, fee, paid_at is not null as is_paid from svc.orders where id_on_chain = any($1)",
    [ids.map((id) => Buffer.from(id.slice(2), "hex"))],
  );
  const byId = new Map<string, Row>(rows.map((row) => [readHex(row, "id_on_chain"), row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    if (row === undefined) return [`order ${id} was paid on the chain and is gone`];
    const fee = events.filter((event) => event.id === id).reduce((sum, event) => sum + event.fee, 0n);
    const isWrong =
      fee > readBigint(row, "fee") || (readText(row, "kind") === "api_key" && row["is_paid"] !== true);
    return isWrong ? [`order ${id} has taken ${fee} wei of fees and is paid: ${row["is_paid"]}`] : [];
  });
}

/** Each paid order has one key, whose secret is the one that was answered, each time. */
export async function checkKeys(db: Db, buyers: readonly BuyerFindings[]): Promise<string[]> {
  const broken: string[] = [];
  const secrets = new Set<string>();
  for (const { paid, secrets: answered } of buyers) {
    for (const order of paid) {
      const told = answered.get(order);
      if (told?.size !== 1) broken.push(`${order} was answered with ${told?.size ?? 0} secrets`);
      for (const secret of told ?? []) {
        if (secrets.has(secret)) broken.push(`${order} has another order's secret`);
        secrets.add(secret);
      }
    }
  }
  const { rows } = await db.query(
    `select count(api_keys.id)::int as keys, orders.id, min(encode(hash, 'hex')) as hash, min(used_at) as used_at
     from svc.orders left join svc.api_keys on order_id = orders.id
     where orders.kind = 'api_key' and paid_at is not null group by orders.id`,
  );
  const hashes = new Set([...secrets].map(hashApiKey));
  for (const row of rows) {
    const keys = readInteger(row, "keys");
    const hash = readNullable(readText, row, "hash");
    if (keys !== 1 || hash === null || !hashes.has(hash) || row["used_at"] === null) {
      broken.push(`a paid order has ${keys} keys, used: ${row["used_at"] !== null}`);
    }
  }
  if (rows.length !== secrets.size)
    broken.push(`${rows.length} paid orders of keys, and ${secrets.size} secrets`);
  return broken;
}

/** Each secret opens the dashboard, once an api and Redis are there. */
export async function checkSecrets(
  replicas: readonly Pick<CrashReplica, "url">[],
  buyers: readonly BuyerFindings[],
): Promise<string[]> {
  const secrets = buyers.flatMap(({ secrets }) => [...secrets.values()].flatMap((told) => [...told]));
  const broken: string[] = [];
  for (const secret of secrets) {
    let status: number | undefined;
    await until("an api answers", async () => {
      const url = replicas.map((replica) => replica.url()).find((known) => known !== undefined);
      status = url === undefined ? undefined : await dashboardStatus(url, secret);
      return status !== undefined && status !== 503;
    }).catch(() => {});
    if (status !== 200) broken.push(`a key that was sold is answered with ${status ?? "nothing"}`);
  }
  return broken;
}

async function dashboardStatus(url: string, secret: string): Promise<number | undefined> {
  try {
    const headers = { "X-Svc-Dev-Key": secret };
    return (await fetch(`${url}/api/v1/svc-dev/v1/dashboard`, { headers })).status;
  } catch {
    return undefined;
  }
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));
}
