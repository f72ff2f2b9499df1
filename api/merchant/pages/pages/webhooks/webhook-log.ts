import { z } from "zod";
import { table } from "../../../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../../../lib/web/html.ts";
import { type DeliveryRecord, deliveryStates } from "../../../webhooks/delivery-record.ts";
import { moment } from "../../elements.ts";
import type { Input, SignedIn } from "../../merchant-page.ts";
import { deliveryState, outcomeText } from "./delivery-words.ts";

const rowsMax = 20;
/** What is none of these asks for the newest of all. */
const asked = z.object({
  state: z.enum(deliveryStates).optional().catch(undefined),
  before: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/)
    .transform(Number)
    .optional()
    .catch(undefined),
});

/** A wallet's events, newest first, in pages. */
export async function webhookLog(context: SignedIn, query: Input["query"]): Promise<Html> {
  const { words, webhooks, session } = context;
  const { log: texts } = words.webhooks;
  const { state, before } = asked.parse(query);
  const page = await webhooks.deliveries(session.wallet, { limit: rowsMax, before, state });
  const isWhole = state === undefined && before === undefined;
  const rows =
    page.data.length === 0
      ? html`<p class="empty">${isWhole ? texts.none : texts.noneOfState}</p>`
      : logTable(context, page.data);
  return html`<section class="card" id="log" aria-labelledby="log-title"><h2 id="log-title">${texts.title}</h2>
${isWhole && page.data.length === 0 ? html`` : filterForm(context, state)}
${rows}
${pager(context, { state, before, nextBefore: page.nextBefore })}
<p class="hint">${texts.kept}</p>
</section>`;
}

function filterForm({ words, el }: SignedIn, state: string | undefined): Html {
  const { log: texts } = words.webhooks;
  const options = deliveryStates.map(
    (each) =>
      html`<option value="${each}"${each === state ? html` selected` : html``}>${texts.states[each]}</option>`,
  );
  return html`<form class="filter" method="get" action="${el.to("merchant/webhooks#log")}">
<label>${texts.state} <select name="state"><option value="">${texts.all}</option>${options}</select></label>
<button type="submit" class="quiet">${texts.show}</button></form>`;
}

function logTable(context: SignedIn, rows: readonly DeliveryRecord[]): Html {
  const { words, el } = context;
  const { log: texts } = words.webhooks;
  return table<DeliveryRecord>({
    caption: texts.title,
    rows,
    columns: [
      {
        title: texts.event,
        cell: ({ eventId, sequence, type }) =>
          el.link(
            `merchant/webhooks/events/${eventId}`,
            html`${el.integer(sequence)} · ${texts.types[type]}`,
          ),
      },
      { title: texts.state, cell: (row) => deliveryState(context, row) },
      { title: texts.at, cell: ({ createdAt }) => moment(context, createdAt) },
      { title: texts.attempts, number: true, cell: ({ attempts }) => el.integer(attempts) },
      {
        title: texts.last,
        cell: ({ lastStatus, lastError }) => outcomeText(context, { status: lastStatus, error: lastError }),
      },
    ],
  });
}

function pager(
  { words, el }: SignedIn,
  {
    state,
    before,
    nextBefore,
  }: { state: string | undefined; before: number | undefined; nextBefore: number | null },
): Html {
  const { log: texts } = words.webhooks;
  const pathOf = (more: Record<string, string>) => {
    const query = String(new URLSearchParams({ ...(state === undefined ? {} : { state }), ...more }));
    return `merchant/webhooks${query === "" ? "" : `?${query}`}#log`;
  };
  const links = [
    ...(before === undefined ? [] : [el.link(pathOf({}), texts.newest)]),
    ...(nextBefore === null ? [] : [el.link(pathOf({ before: String(nextBefore) }), texts.older)]),
  ];
  return links.length === 0 ? html`` : html`<nav class="pager" aria-label="${texts.title}">${links}</nav>`;
}
