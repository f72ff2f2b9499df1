import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { RecentBlock } from "../../read/recent-blocks.ts";
import { bars } from "../elements/bars.ts";
import type { PageContext } from "../page.ts";

const histogramSecondsMax = 10;

/** How many blocks took how many seconds. */
export function histogramCard({ texts }: PageContext, blocks: readonly RecentBlock[]): Html {
  const { health: words } = texts;
  const counts = Array.from({ length: histogramSecondsMax + 1 }, () => 0);
  for (const { seconds } of blocks) {
    if (seconds === null) continue;
    const at = Math.min(seconds, histogramSecondsMax);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const rows = counts.map((count, seconds) => ({
    seconds: seconds === histogramSecondsMax ? `≥ ${seconds}` : String(seconds),
    count,
  }));
  return html`<section class="card"><h2>${words.histogram}</h2>
${bars({
  label: words.histogramCaption,
  barsMin: 0,
  data: rows.map(({ seconds, count }) => ({
    value: count,
    title: `${texts.units.seconds(seconds)}: ${count}`,
  })),
})}
<p class="axis" aria-hidden="true">${rows.map(({ seconds }) => html`<span>${seconds}</span>`)}</p>
<details><summary>${words.histogramCaption}</summary>
${table<(typeof rows)[number]>({
  caption: words.histogramCaption,
  rows: rows.filter(({ count }) => count > 0),
  columns: [
    { title: words.histogramSeconds, cell: ({ seconds }) => seconds },
    { title: words.histogramBlocks, number: true, cell: ({ count }) => String(count) },
  ],
})}
</details>
</section>`;
}
