import { z } from "zod";
import { readAnswer } from "../../../lib/chain/read-answer.ts";
import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { hexQuantity, wei } from "../../../lib/chain/rpc-values.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readBigint, readHex, readInteger } from "../../../lib/postgres/row.ts";
import type { LedgerCursor } from "./ledger-cursor.ts";

/** The deposit box of an invoice, and what is booked for it. Amounts in wei; hex in lower case. */
export type WatchedBox = {
  /** The order's id on chain. */
  id: string;
  box: string;
  received: bigint;
  /** Of it: what the FeeCollector has passed on, so that it is not in the box any more. */
  booked: bigint;
  /** Unix seconds: what is in a later block is late. */
  expiresAt: number;
};

/** How many balances travel in one array. */
const arrayMax = 64;

/** Boxes that may still get money which counts, at most `boxesMax` of them: those whose watch ends last. */
export async function readWatchedBoxes(
  queryable: Queryable,
  { cursor, boxesMax }: { cursor: LedgerCursor; boxesMax: number },
): Promise<WatchedBox[]> {
  const { rows } = await queryable.query(
    `select id_on_chain, box, received, booked, extract(epoch from expires_at)::bigint as expires_at
     from svc.invoices join svc.orders on orders.id = order_id
     where watch_until >= to_timestamp($1) and epoch = $2
     order by watch_until desc, invoices.id desc limit $3`,
    [cursor.boxesAt, cursor.epoch, boxesMax],
  );
  return rows.map((row) => ({
    id: readHex(row, "id_on_chain"),
    box: readHex(row, "box"),
    received: readBigint(row, "received"),
    booked: readBigint(row, "booked"),
    expiresAt: readInteger(row, "expires_at"),
  }));
}

export type BoxLook = { box: string; block: number };

/**
 * What lies in boxes after the named blocks, in the looks' order; undefined where the node has no state of that block any
 * more (Besu with Bonsai keeps the last 512).
 *
 * @throws ChainUnavailableError where the chain cannot be asked.
 */
export async function readBalances(
  rpc: Pick<RpcClient, "askAll">,
  looks: readonly BoxLook[],
): Promise<(bigint | undefined)[]> {
  const balances: (bigint | undefined)[] = [];
  for (let at = 0; at < looks.length; at += arrayMax) {
    const answers = await rpc.askAll(
      looks.slice(at, at + arrayMax).map(({ box, block }) => ({
        method: "eth_getBalance",
        params: [box, hexQuantity(block)],
      })),
    );
    for (const answer of answers) {
      const isOfNode = "error" in answer && !answer.error.ofGateway;
      // Besu answers null, or an error, where it has no state.
      balances.push(isOfNode ? undefined : (readAnswer(answer, z.union([wei, z.null()])) ?? undefined));
    }
  }
  return balances;
}
