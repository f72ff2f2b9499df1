import { table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import { barsSvg } from "../report/bars.ts";
import { milliseconds, rate, seconds } from "../report/format.ts";
import { reportPage } from "../report/html-page.ts";
import { percentilePlot } from "../report/html-report.ts";
import { plotSvg } from "../report/plot.ts";
import { type ComparedFigure, type Comparison, showChange, showFigure } from "./compare-reports.ts";
import type { ComparedReport } from "./read-report.ts";

const barRowsMax = 20;

/** Two runs beside each other, as one page that needs nothing else. */
export function htmlComparison({
  a,
  b,
  comparison,
  names,
}: {
  a: ComparedReport;
  b: ComparedReport;
  comparison: Comparison;
  names: { a: string; b: string };
}): string {
  const { figures, differences } = comparison;
  const worse = figures.filter(({ change }) => change === "worse");
  const better = figures.filter(({ change }) => change === "better");
  const notes = differences.map((text) => html`<li>${text}</li>`);
  return reportPage({
    title: "Two load runs compared",
    main: html`<div class="intro"><h1>Two load runs compared</h1>
<p>A: ${names.a}, ${a.settings.url}, ${a.startedAt}</p>
<p>B: ${names.b}, ${b.settings.url}, ${b.startedAt}</p></div>
<section class="card ${worse.length === 0 ? "kept" : "missed"}"><h2>${
      worse.length === 0 ? "Nothing got worse" : `${worse.length} figures got worse`
    }</h2>
<ul>${[...worse, ...better].map(sentence)}</ul></section>
${notes.length === 0 ? html`` : html`<section class="card notes"><h2>What else differs</h2><ul>${notes}</ul></section>`}
<section class="card"><h2>Over time</h2>
${plots(a, b)}
</section>
<section class="card"><h2>By method</h2>
${bars(a, b)}
${table({
  caption: "All figures",
  rows: figures,
  columns: [
    { title: "calls", cell: ({ what }) => what },
    { title: "figure", cell: ({ figure }) => figure },
    { title: "A", number: true, cell: ({ figure, a: value }) => showFigure(figure, value) },
    { title: "B", number: true, cell: ({ figure, b: value }) => showFigure(figure, value) },
    { title: "change", number: true, cell: showChange },
    { title: "verdict", cell: ({ change }) => change },
  ],
})}
</section>`,
  });
}

function sentence(figure: ComparedFigure): Html {
  const { what, figure: name, a, b, change } = figure;
  const values = `${showFigure(name, a)} → ${showFigure(name, b)} (${showChange(figure)})`;
  return html`<li>${change}: ${what}, ${name} ${values}</li>`;
}

function plots(a: ComparedReport, b: ComparedReport): Html {
  if (a.series.length === 0 || b.series.length === 0) return html`<p>One of them measured nothing.</p>`;
  const lines = (read: (slice: ComparedReport["series"][number]) => number) => [
    { name: "A", tone: "one" as const, points: a.series.map((slice) => ({ x: slice.toMs, y: read(slice) })) },
    { name: "B", tone: "two" as const, points: b.series.map((slice) => ({ x: slice.toMs, y: read(slice) })) },
  ];
  const common = { showX: seconds, fromX: 0 };
  const drawn = [
    plotSvg({ ...common, title: "p50 over time", lines: lines(({ p50 }) => p50), showY: milliseconds }),
    plotSvg({ ...common, title: "p99 over time", lines: lines(({ p99 }) => p99), showY: milliseconds }),
    plotSvg({
      ...common,
      title: "Calls a second",
      lines: lines(({ calls, fromMs, toMs }) => (calls * 1000) / Math.max(1, toMs - fromMs)),
      showY: rate,
    }),
    percentilePlot([
      { name: "A", curve: a.latencyCurve },
      { name: "B", curve: b.latencyCurve },
    ]),
  ];
  return { text: drawn.join("\n") };
}

function bars(a: ComparedReport, b: ComparedReport): Html {
  const rows = a.methods.flatMap(({ label, latencyMs, calls }) => {
    const other = b.methods.find((method) => method.label === label);
    return other === undefined ? [] : [{ label, calls, values: [latencyMs.p99, other.latencyMs.p99] }];
  });
  if (rows.length === 0) return html`<p>They have no method in common.</p>`;
  return barsSvg({
    title: "p99 by method",
    names: ["A", "B"],
    show: milliseconds,
    rows: rows.sort((left, right) => right.calls - left.calls).slice(0, barRowsMax),
  });
}
