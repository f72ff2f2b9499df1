import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readBigint, readBoolean, readHex, readNullable, readText } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";
import { orderColumns, type PlacedOrder, readPlacedOrder } from "../orders/order.ts";

type Db = Pick<Queryable, "query">;

/** An order, and of an invoice what has arrived for it. */
export type PayableOrder = PlacedOrder & {
  invoice: { state: string; received: bigint; box: string } | undefined;
};

/** The order of this chain whose `ref` (0x and 64 digits) somebody is about to pay. */
export async function findPayableOrder(db: Db, ref: string): Promise<PayableOrder | undefined> {
  const { rows } = await db.query({
    name: "payable-order",
    text: `select ${orderColumns}, i.state, i.received, i.box
      from svc.orders o join svc.chain_epochs e using (epoch) left join svc.invoices i on i.order_id = o.id
      where o.ref = $1 and o.epoch = svc.current_epoch()`,
    values: [bytesOf(ref)],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const state = readNullable(readText, row, "state");
  const invoice =
    state === null
      ? undefined
      : { state, received: readBigint(row, "received"), box: checksumAddress(readHex(row, "box")) };
  return { ...readPlacedOrder(row), invoice };
}

export type PayableBox = { state: string; isWatched: boolean };

/** The invoice of this chain whose deposit box this is. */
export async function findPayableBox(db: Db, box: string): Promise<PayableBox | undefined> {
  const { rows } = await db.query({
    name: "payable-box",
    text: `select i.state, i.watch_until >= (select boxes_at from svc.chain_cursor) as is_watched
      from svc.invoices i join svc.orders o on o.id = i.order_id
      where i.box = $1 and o.epoch = svc.current_epoch()`,
    values: [bytesOf(box)],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  return { state: readText(row, "state"), isWatched: readBoolean(row, "is_watched") };
}
