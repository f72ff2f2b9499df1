import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { LogRecord } from "../../records/transaction.ts";
import type { PageContext } from "../page.ts";
import { cut } from "./cut.ts";
import { argumentText } from "./revert-text.ts";

type Argument = { name: string; type: string; value: unknown };

/** Decoded arguments of a call or an event. */
export function argumentTable({ texts, el }: PageContext, given: readonly Argument[]): Html {
  const { transaction } = texts;
  return table<Argument>({
    caption: transaction.arguments,
    rows: given,
    columns: [
      { title: transaction.argument, cell: ({ name }) => (name === "" ? "–" : name) },
      { title: transaction.argumentType, secondary: true, cell: ({ type }) => html`<code>${type}</code>` },
      {
        title: transaction.argumentValue,
        cell: ({ type, value }) =>
          type === "address" && typeof value === "string"
            ? el.fullAddress(value)
            : html`<code class="long">${cut(argumentText({ value }))}</code>`,
      },
    ],
  });
}

/** Logs, each with what it says where that is known. `where`: what stands below an event's name. */
export function eventList<Log extends LogRecord>(
  context: PageContext,
  logs: readonly Log[],
  where: (log: Log) => Html,
): Html {
  return html`<ol class="events">${logs.map((log) => eventItem(context, log, where(log)))}</ol>`;
}

function eventItem(context: PageContext, { event, topics, data, index }: LogRecord, where: Html): Html {
  const { transaction } = context.texts;
  const decoded =
    event === null
      ? html`<p>${transaction.unknownEvent}</p>`
      : html`<p><code class="long">${event.signature}</code></p>${event.arguments.length === 0 ? html`` : argumentTable(context, event.arguments)}`;
  return html`<li>
<h3>${event?.name ?? transaction.event(index)}</h3>
<p>${where}</p>
${decoded}
<details><summary>${transaction.topics}, ${transaction.data}</summary>
<ul class="raw">${topics.map((topic) => html`<li><code class="long">${topic}</code></li>`)}</ul>
<pre class="raw" tabindex="0">${cut(data)}</pre>
</details>
</li>`;
}
