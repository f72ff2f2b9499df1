import type { LatencySummary } from "../record/latencies.ts";
import { describeSettings, describeThreshold } from "./describe-settings.ts";
import { count, milliseconds, percent, rate } from "./format.ts";
import type { Report } from "./report.ts";
import { terminalChart } from "./terminal-chart.ts";

/** The report for a terminal. */
export function textReport(report: Report): string {
  const { rates, calls, arrivals, notes, self } = report;
  return [
    "",
    ...describeSettings(report).map(([name, value]) => `${name.padEnd(12)} ${value}`),
    "",
    `${count(arrivals.begun)} of ${count(arrivals.planned)} scripts begun, ${rate(rates.arrivalsPerSecond)} (wanted ${rate(rates.wantedPerSecond)}).`,
    `${count(calls.total)} calls ended, ${rate(rates.callsPerSecond)}; ${count(calls.failed)} failed (${percent(calls.errorRate)})${
      calls.cutOff > 0 ? `; ${count(calls.cutOff)} cut off unanswered` : ""
    }.`,
    "",
    ...latencyTable(report),
    "",
    ...charts(report),
    ...errorLines(report),
    ...notes.map((note) => `Note: ${note}`),
    ...self.bottlenecks.map((text) => `Note: ${text}`),
    ...(notes.length + self.bottlenecks.length > 0 ? [""] : []),
    ...report.thresholds.map((threshold) => `Threshold: ${describeThreshold(threshold)}`),
    "",
  ].join("\n");
}

function latencyTable({ latencyMs, serviceMs, failedMs, minedMs, self, methods }: Report): string[] {
  const rows: [string, LatencySummary][] = [
    ["latency (from due time)", latencyMs],
    ["service (from sending)", serviceMs],
    ["failed answers", failedMs],
    ["send to receipt", minedMs],
    ["begun late by", self.lateMs],
  ];
  const shown = rows.filter(([, summary]) => summary.count > 0);
  const byMethod = [...methods].sort((left, right) => right.calls - left.calls);
  return rightAligned([
    ["", "p50", "p90", "p99", "p99.9", "max", "count", "failed"],
    ...shown.map(([name, summary]) => [name, ...cells(summary), count(summary.count), ""]),
    [],
    ...byMethod.map((method) => [
      ...[method.label, ...cells(method.latencyMs), count(method.calls)],
      count(method.failed),
    ]),
  ]);
}

function cells({ p50, p90, p99, p999, max, count: recorded }: LatencySummary): string[] {
  return [p50, p90, p99, p999, max].map((value) => (recorded === 0 ? "–" : milliseconds(value)));
}

function charts({ series }: Report): string[] {
  // The last slice is usually short. As a rate it would look like a drop.
  const whole = series.length > 1 ? series.slice(0, -1) : series;
  const rates = whole.map(({ calls, fromMs, toMs }) => (calls * 1000) / (toMs - fromMs));
  return [
    ...terminalChart({ title: "calls/s over time", values: rates, show: rate }),
    ...terminalChart({ title: "p99 over time", values: series.map(({ p99 }) => p99), show: milliseconds }),
    "",
  ];
}

function errorLines({ errors }: Report): string[] {
  if (errors.length === 0) return [];
  return [
    "Errors",
    ...errors.map(
      ({ kind, code, calls, example }) =>
        `  ${count(calls)} × ${kind}, ${code}\n      e.g. ${example.method}: ${example.message}`,
    ),
    "",
  ];
}

/** Columns as wide as their widest cell; the first one left, the others right. */
function rightAligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
