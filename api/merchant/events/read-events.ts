import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { type Row, readInteger, readNullable, readText } from "../../../lib/postgres/row.ts";
import { bytesOf } from "../../read/columns.ts";

/** Where a reader is: after an event's number, or after all that there are now. */
export type EventPosition = number | "latest";

/** An event as it is told to webhooks; `body` is the very text that is signed and sent. */
export type ToldEvent = { sequence: number; type: string; body: string };

export type EventPage = {
  /** Oldest first, without a gap among them. */
  events: ToldEvent[];
  /** From where the page was read: where more was asked for than there is, what there is. */
  after: number;
  /** The number of the wallet's last event; 0 where it has none. */
  latest: number;
  /** Events from `after` up to this one were removed for their age; null where none was. */
  removedUpTo: number | null;
  /** From where to go on. */
  nextAfter: number;
};

/**
 * A wallet's events after a number, in one statement, so that `latest` and the events are of the same moment. A page ends after
 * `limit` events, or with the one that goes beyond `bytesMax`.
 */
export async function readEvents(
  db: Pick<Queryable, "query">,
  {
    wallet,
    after,
    limit,
    bytesMax,
  }: { wallet: string; after: EventPosition; limit: number; bytesMax: number },
): Promise<EventPage> {
  const { rows } = await db.query({
    name: "events-after",
    text: `with own as (
        select coalesce((select last from svc.event_sequences where wallet = $1), 0) as latest),
      page as (
        select sequence, type, body, sum(octet_length(body)) over (order by sequence) - octet_length(body) as bytes_before
        from (select sequence, type, body from svc.webhook_events, own
          where wallet = $1 and sequence > coalesce($2, latest) order by sequence limit $3) found)
      select latest, sequence, type, body from own left join page on bytes_before < $4 order by sequence`,
    values: [bytesOf(wallet), after === "latest" ? null : after, limit, bytesMax],
  });
  const latest = rows[0] === undefined ? 0 : readInteger(rows[0], "latest");
  const events = rows.flatMap(readEvent);
  const begin = after === "latest" ? latest : Math.min(after, latest);
  // Numbers have no gap: what is not there after `begin` was removed.
  const first = events[0]?.sequence ?? latest + 1;
  return {
    ...{ events, latest, after: begin },
    removedUpTo: first > begin + 1 ? first - 1 : null,
    nextAfter: events.at(-1)?.sequence ?? latest,
  };
}

function readEvent(row: Row): ToldEvent[] {
  const sequence = readNullable(readInteger, row, "sequence");
  if (sequence === null) return [];
  return [{ sequence, type: readText(row, "type"), body: readText(row, "body") }];
}
