import { hash } from "node:crypto";
import { escapeHtml } from "../../../lib/web/html.ts";
import type { LatencySummary } from "../record/latencies.ts";
import { describeSettings, describeThreshold } from "./describe-settings.ts";
import { count, milliseconds, percent, rate, seconds } from "./format.ts";
import { reportStyle } from "./html-style.ts";
import { plotSvg } from "./plot.ts";
import type { Report } from "./report.ts";

/**
 * The report as one page that needs nothing else: no script, no request, plots as inline SVG. Its policy allows its own
 * style by hash and an empty icon, so that even a text from the other side that got past the escaping could do nothing.
 */
export function htmlReport(report: Report): string {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", reportStyle, "base64")}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Load report: ${escapeHtml(report.settings.url)}</title>
<link rel="icon" href="data:,">
<style>${reportStyle}</style>
</head>
<body>
<main>
<h1>Load report</h1>
<p>${escapeHtml(report.settings.url)}, ${escapeHtml(report.startedAt)}</p>
${verdict(report)}
${tiles(report)}
${notes(report)}
${plots(report)}
<h2>By method</h2>
${methodTable(report)}
<h2>Errors</h2>
${errorTable(report)}
<h2>Latencies in detail</h2>
${detailTable(report)}
<h2>Configuration</h2>
${table(["", ""], describeSettings(report))}
</main>
</body>
</html>
`;
}

function verdict({ thresholds, passed }: Report): string {
  if (thresholds.length === 0) return "";
  const lines = thresholds.map((threshold) => `<li>${escapeHtml(describeThreshold(threshold))}</li>`);
  return `<section class="verdict ${passed ? "kept" : "missed"}"><strong>${
    passed ? "Thresholds kept" : "Threshold missed"
  }</strong><ul>${lines.join("")}</ul></section>`;
}

function tiles({ rates, latencyMs, calls }: Report): string {
  const shown = [
    ["begun", `${rate(rates.arrivalsPerSecond)} of ${rate(rates.wantedPerSecond)}`],
    ["calls", `${count(calls.total)}, ${rate(rates.callsPerSecond)}`],
    ["p50", milliseconds(latencyMs.p50)],
    ["p99", milliseconds(latencyMs.p99)],
    ["p99.9", milliseconds(latencyMs.p999)],
    ["failed", `${count(calls.failed)} (${percent(calls.errorRate)})`],
  ] as const;
  const items = shown.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`);
  return `<dl class="tiles">${items.join("")}</dl>`;
}

function notes({ notes: given, self }: Report): string {
  const all = [...self.bottlenecks, ...given];
  if (all.length === 0) return "";
  return `<section class="notes"><ul>${all.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul></section>`;
}

function plots({ series, latencyCurve, latencyMs }: Report): string {
  if (series.length === 0) return "<p>Nothing was measured.</p>";
  const over = (read: (slice: Report["series"][number]) => number) =>
    series.map((slice) => ({ x: slice.toMs, y: read(slice) }));
  const perSecond = (read: (slice: Report["series"][number]) => number) =>
    over((slice) => (read(slice) * 1000) / (slice.toMs - slice.fromMs));
  return [
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
    ...(latencyMs.count === 0
      ? []
      : [
          plotSvg({
            title: "Latency by percentile",
            lines: [
              {
                name: "latency",
                tone: "one",
                points: latencyCurve.map(({ percentile, latencyMs: y }) => ({ x: percentile, y })),
              },
            ],
            showX: (percentile) => `${percentile} %`,
            showY: milliseconds,
            ticksX: latencyCurve
              .map(({ percentile }) => percentile)
              .filter((percentile) => [50, 90, 99, 99.9, 99.99].includes(percentile)),
            scaleX: nines,
          }),
        ]),
  ].join("\n");
}

/** Each further nine takes as much room as the one before. 100 % has the place of the next one. */
function nines(percentile: number): number {
  return -Math.log10(1 - Math.min(percentile, 99.995) / 100);
}

function methodTable({ methods }: Report): string {
  const rows = [...methods]
    .sort((left, right) => right.calls - left.calls)
    .map(({ label, calls, failed, latencyMs }) => [
      ...[label, count(calls), count(failed)],
      ...percentileCells(latencyMs),
    ]);
  return table(["method", "calls", "failed", "p50", "p90", "p99", "p99.9", "max"], rows);
}

function errorTable({ errors }: Report): string {
  if (errors.length === 0) return "<p>None.</p>";
  const rows = errors.map(({ kind, code, calls, example }) => [
    ...[kind, code, count(calls)],
    `${example.method}: ${example.message}`,
  ]);
  return `<div class="errors">${table(["kind", "code", "calls", "first example"], rows)}</div>`;
}

function detailTable({ latencyMs, serviceMs, failedMs, queuedMs, minedMs, self }: Report): string {
  const rows: [string, LatencySummary][] = [
    ["latency, from the time it was due", latencyMs],
    ["service time, from sending", serviceMs],
    ["failed answers", failedMs],
    ["wait for a connection", queuedMs],
    ["send to receipt", minedMs],
    ["begun late by", self.lateMs],
  ];
  return table(
    ["what", "count", "p50", "p90", "p99", "p99.9", "max"],
    rows
      .filter(([, summary]) => summary.count > 0)
      .map(([name, summary]) => [name, count(summary.count), ...percentileCells(summary)]),
  );
}

function percentileCells({ p50, p90, p99, p999, max, count: recorded }: LatencySummary): string[] {
  return [p50, p90, p99, p999, max].map((value) => (recorded === 0 ? "–" : milliseconds(value)));
}

/** Wide tables scroll in a box of their own, so that the page does not. The keyboard reaches the box. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isEmptyHead = head.every((cell) => cell === "");
  const headRow = `<thead><tr>${head.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join("")}</tr></thead>`;
  const body = rows.map(
    ([first = "", ...others]) =>
      `<tr><th scope="row">${escapeHtml(first)}</th>${others
        .map((cell) => `<td>${escapeHtml(cell)}</td>`)
        .join("")}</tr>`,
  );
  return `<div class="scroll" tabindex="0"><table>${isEmptyHead ? "" : headRow}<tbody>${body.join("")}</tbody></table></div>`;
}
