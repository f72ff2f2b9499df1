import { z } from "zod";
import { type Html, html } from "../../../lib/web/html.ts";
import type { LogPlace } from "../../read/find-logs.ts";
import type { AccountRecord } from "../../records/transaction.ts";
import { eventList } from "../elements/events.ts";
import { empty } from "../lists.ts";
import type { PageContext } from "../page.ts";
import { tabs } from "./tabs.ts";

/** Where the page of events before ended: a block, and the log in it. */
export const logPlace = z
  .string()
  .regex(/^\d{1,15}\.\d{1,9}$/)
  .optional()
  .transform((text) => {
    const [block, index] = (text ?? "").split(".").map(Number);
    return block === undefined || index === undefined ? undefined : { block, index };
  });
/** Logs are looked for in up to five ranges of blocks, by the chain. */
export const eventsCost = 5;

/** What a contract has logged, newest first, with how far back was looked. */
export async function eventsCard(
  context: PageContext,
  record: AccountRecord,
  { limit: shown, before }: { limit: number; before?: LogPlace | undefined },
): Promise<Html> {
  const { texts, el, read } = context;
  const { address: words } = texts;
  const newest = { block: record.blockNumber + 1, index: 0 };
  const { data, next, from, tooMany } = await read.contractLogs({
    address: record.address,
    limit: shown,
    // What somebody has typed may be beyond the chain's end.
    before: before === undefined || before.block > newest.block ? newest : before,
  });
  const path = `address/${record.address}?tab=events`;
  const list =
    data.length === 0
      ? empty(words.noEvents(el.integer(from)))
      : eventList(
          context,
          data,
          ({ blockNumber, transactionHash }) =>
            html`${texts.transaction.block} ${el.blockLink(blockNumber)} · ${el.transactionLink(transactionHash)}`,
        );
  const passed =
    tooMany === null ? html`` : html`<p class="note">${words.tooManyEvents(el.integer(tooMany))}</p>`;
  const older =
    next === null
      ? html``
      : html`<a rel="next" href="${el.to(`${path}&before=${next.block}.${next.index}`)}">${texts.list.older} →</a>`;
  const first = before === undefined ? html`` : html`<a href="${el.to(path)}">← ${texts.list.newest}</a>`;
  return html`<section class="card">
${tabs(context, record, "events")}
<h2 class="unseen">${texts.transaction.events}</h2>
${list}
${passed}
<nav class="pager" aria-label="${texts.list.older}"><span>${first} ${older}</span></nav>
</section>`;
}
