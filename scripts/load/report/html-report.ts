import { facts, table } from "../../../lib/web/elements/table.ts";
import { type Html, html } from "../../../lib/web/html.ts";
import type { LatencySummary } from "../record/latencies.ts";
import { barsSvg } from "./bars.ts";
import { describeSettings, showUnit } from "./describe-settings.ts";
import { count, milliseconds, percent, rate, seconds } from "./format.ts";
import { reportPage } from "./html-page.ts";
import { plotSvg } from "./plot.ts";
import type { Report } from "./report.ts";

/** More bars than these could not be read; the table has all methods. */
const barRowsMax = 20;

/** The report as one page that needs nothing else. */
export function htmlReport(report: Report): string {
  const { settings, startedAt, errors, tags } = report;
  return reportPage({
    title: `Load report: ${settings.url}`,
    main: html`<div class="intro"><h1>Load report</h1><p>${settings.url}, ${startedAt}</p></div>
${verdict(report)}
${tiles(report)}
${notes(report)}
<section class="card"><h2>Over time</h2>
${plots(report)}
</section>
<section class="card"><h2>By method</h2>
${methodBars(report)}
${rowTable("By method", "method", report.methods)}
</section>
${tags.length === 0 ? html`` : html`<section class="card"><h2>By tag</h2>${rowTable("By tag", "tag", tags)}</section>`}
<section class="card wide"><h2>Errors</h2>
${errors.length === 0 ? html`<p>None.</p>` : errorParts(report)}
</section>
<section class="card"><h2>Latencies in detail</h2>
${detailTable(report)}
</section>
<section class="card"><h2>Configuration</h2>
${facts(describeSettings(report))}
</section>`,
  });
}

function verdict({ thresholds, passed }: Report): Html {
  if (thresholds.length === 0) return html``;
  return html`<section class="card ${passed ? "kept" : "missed"}"><h2>${passed ? "Thresholds kept" : "Threshold missed"}</h2>
${table({
  caption: "Thresholds",
  rows: thresholds,
  columns: [
    { title: "threshold", cell: ({ name }) => name },
    {
      title: "limit",
      number: true,
      cell: ({ operator, unit, limit }) => `${operator} ${showUnit[unit](limit)}`,
    },
    {
      title: "measured",
      number: true,
      cell: ({ actual, unit }) => (actual === null ? "not measured" : showUnit[unit](actual)),
    },
    { title: "verdict", cell: (threshold) => (threshold.passed ? "kept" : "MISSED") },
  ],
})}
</section>`;
}

function tiles({ rates, latencyMs, calls }: Report): Html {
  const shown = [
    ["begun", `${rate(rates.arrivalsPerSecond)} of ${rate(rates.wantedPerSecond)}`],
    ["calls", `${count(calls.total)}, ${rate(rates.callsPerSecond)}`],
    ["p50", milliseconds(latencyMs.p50)],
    ["p99", milliseconds(latencyMs.p99)],
    ["p99.9", milliseconds(latencyMs.p999)],
    ["failed", `${count(calls.failed)} (${percent(calls.errorRate)})`],
  ] as const;
  const items = shown.map(
    ([name, value]) =>
      html`<div class="tile"><p class="tile-name">${name}</p><p class="tile-value">${value}</p></div>`,
  );
  return html`<div class="tiles">${items}</div>`;
}

function notes({ notes: given, self }: Report): Html {
  const all = [...self.bottlenecks, ...given];
  if (all.length === 0) return html``;
  return html`<section class="card notes"><h2>To know</h2><ul>${all.map((text) => html`<li>${text}</li>`)}</ul></section>`;
}

function plots({ series, latencyCurve, latencyMs }: Report): Html {
  if (series.length === 0) return html`<p>Nothing was measured.</p>`;
  const over = (read: (slice: Report["series"][number]) => number) =>
    series.map((slice) => ({ x: slice.toMs, y: read(slice) }));
  const perSecond = (read: (slice: Report["series"][number]) => number) =>
    over((slice) => (read(slice) * 1000) / (slice.toMs - slice.fromMs));
  const drawn = [
    plotSvg({
      title: "Throughput over time",
      lines: [
        { name: "scripts begun/s", tone: "one", points: perSecond(({ arrivals }) => arrivals) },
        { name: "calls/s", tone: "two", points: perSecond(({ calls }) => calls) },
        { name: "failed/s", tone: "three", points: perSecond(({ failed }) => failed) },
      ],
      showX: seconds,
      showY: rate,
      fromX: 0,
    }),
    plotSvg({
      title: "Latency over time",
      lines: [
        { name: "p50", tone: "one", points: over(({ p50 }) => p50) },
        { name: "p99", tone: "two", points: over(({ p99 }) => p99) },
      ],
      showX: seconds,
      showY: milliseconds,
      fromX: 0,
    }),
    ...(latencyMs.count === 0 ? [] : [percentilePlot([{ name: "latency", curve: latencyCurve }])]),
  ];
  return { text: drawn.join("\n") };
}

/** Latency by percentile of one run, or of two beside each other. */
export function percentilePlot(runs: readonly { name: string; curve: Report["latencyCurve"] }[]): string {
  const percentiles = [...new Set(runs.flatMap(({ curve }) => curve.map(({ percentile }) => percentile)))];
  return plotSvg({
    title: "Latency by percentile",
    lines: runs.map(({ name, curve }, index) => ({
      name,
      tone: index === 0 ? "one" : "two",
      points: curve.map(({ percentile, latencyMs: y }) => ({ x: percentile, y })),
    })),
    showX: (percentile) => `${percentile} %`,
    showY: milliseconds,
    ticksX: percentiles.filter((percentile) => [50, 90, 99, 99.9, 99.99].includes(percentile)),
    scaleX: nines,
  });
}

/** Each further nine takes as much room as the one before. 100 % has the place of the next one. */
function nines(percentile: number): number {
  return -Math.log10(1 - Math.min(percentile, 99.995) / 100);
}

function byCalls(rows: Report["methods"]): Report["methods"] {
  return [...rows].sort((left, right) => right.calls - left.calls);
}

function methodBars({ methods }: Report): Html {
  const rows = byCalls(methods).filter(({ latencyMs }) => latencyMs.count > 0);
  if (rows.length === 0) return html``;
  return barsSvg({
    title: "Percentiles by method",
    names: ["p50", "p90", "p99"],
    show: milliseconds,
    rows: rows
      .slice(0, barRowsMax)
      .map(({ label, latencyMs: { p50, p90, p99 } }) => ({ label, values: [p50, p90, p99] })),
  });
}

function rowTable(caption: string, what: string, rows: Report["methods"]): Html {
  return table({
    caption,
    rows: byCalls(rows),
    columns: [
      { title: what, cell: ({ label }) => label },
      { title: "calls", number: true, cell: ({ calls }) => count(calls) },
      { title: "failed", number: true, cell: ({ failed }) => count(failed) },
      ...percentileColumns<Report["methods"][number]>(({ latencyMs }) => latencyMs),
    ],
  });
}

function errorParts({ errors }: Report): Html {
  return html`${barsSvg({
    title: "Calls by error",
    names: ["calls"],
    show: count,
    rows: errors
      .slice(0, barRowsMax)
      .map(({ kind, code, calls }) => ({ label: `${kind}: ${code}`, values: [calls] })),
  })}
${table({
  caption: "Errors by code",
  rows: errors,
  columns: [
    { title: "kind", cell: ({ kind }) => kind },
    { title: "code", cell: ({ code }) => code },
    { title: "calls", number: true, cell: ({ calls }) => count(calls) },
    { title: "first example", cell: ({ example }) => `${example.method}: ${example.message}` },
  ],
})}`;
}

function detailTable({ latencyMs, serviceMs, failedMs, queuedMs, minedMs, self }: Report): Html {
  const rows: [string, LatencySummary][] = [
    ["latency, from the time it was due", latencyMs],
    ["service time, from sending", serviceMs],
    ["failed answers", failedMs],
    ["wait for a connection", queuedMs],
    ["send to receipt", minedMs],
    ["begun late by", self.lateMs],
  ];
  return table({
    caption: "Latencies in detail",
    rows: rows.filter(([, summary]) => summary.count > 0),
    columns: [
      { title: "what", cell: ([name]) => name },
      { title: "count", number: true, cell: ([, summary]) => count(summary.count) },
      ...percentileColumns<[string, LatencySummary]>(([, summary]) => summary),
    ],
  });
}

const percentiles = [
  ["p50", "p50"],
  ["p90", "p90"],
  ["p99", "p99"],
  ["p99.9", "p999"],
  ["max", "max"],
] as const;

function percentileColumns<Row>(summaryOf: (row: Row) => LatencySummary) {
  return percentiles.map(([title, name]) => ({
    title,
    number: true,
    cell(row: Row) {
      const summary = summaryOf(row);
      return summary.count === 0 ? "–" : milliseconds(summary[name]);
    },
  }));
}
