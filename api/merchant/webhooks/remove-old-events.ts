import type { Queryable } from "../../../lib/postgres/queryable.ts";
import type { SweepTask } from "../sweep.ts";

const keptDays = 30;
/** Events that one statement removes, with their deliveries and tries. */
const rowsMax = 500;

/** Removes events of long ago. What was to be delivered was delivered or given up weeks before. */
export function removeOldEvents(db: Pick<Queryable, "query">): SweepTask {
  return async () => {
    const { rowCount } = await db.query({
      name: "remove-old-events",
      text: `delete from svc.webhook_events where id = any(array(
        select id from svc.webhook_events where created_at < now() - make_interval(days => $1)
        order by created_at limit $2 for update skip locked))`,
      values: [keptDays, rowsMax],
    });
    return { hasMore: rowCount === rowsMax };
  };
}
