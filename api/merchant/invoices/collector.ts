import type { Logger } from "pino";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { publicId } from "../public-id.ts";
import { createRounds } from "../rounds.ts";
import type { CollectBox } from "./collect-box.ts";
import { takeDueBoxes } from "./collect-orders.ts";

const roundEveryMs = 2000;
/** Of one round; what is left has its turn in the next. */
const boxesMax = 20;

/**
 * Passes what lies in deposit boxes on to their merchants, when an invoice is complete and when its watch ends. Each process does so;
 * of several one takes a box. Nothing depends on it: a box that stays full is due again in a minute, and anybody may empty it.
 */
export function createCollector({
  db,
  collectBox,
  logger,
  everyMs = roundEveryMs,
}: {
  db: Pick<Queryable, "query">;
  collectBox: CollectBox;
  logger: Pick<Logger, "info" | "warn">;
  everyMs?: number;
}) {
  async function round(signal: AbortSignal): Promise<void> {
    try {
      for (const order of await takeDueBoxes(db, { boxesMax })) {
        if (signal.aborted) return;
        const invoice = publicId("inv", order.invoiceId);
        const done = await collectBox(order);
        if ("txHash" in done) logger.info({ invoice, ...done }, "what lies in an invoice's box is passed on");
        else logger.warn({ invoice, ...done }, "what lies in an invoice's box cannot be passed on");
      }
    } catch (error) {
      logger.warn({ err: error }, "what lies in invoices' boxes was not passed on; tried again in a minute");
    }
  }

  return createRounds({ work: round, everyMs });
}
