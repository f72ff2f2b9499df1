import { describePlan } from "../report/describe-settings.ts";
import { milliseconds, percent, rate } from "../report/format.ts";
import type { ComparedReport } from "./read-report.ts";

export type Change = "better" | "worse" | "about the same" | "only in A" | "only in B";

export type ComparedFigure = {
  /** "all calls", or a method. */
  what: string;
  figure: "p50" | "p90" | "p99" | "failed" | "calls/s";
  a: number | undefined;
  b: number | undefined;
  change: Change;
};

export type Comparison = {
  figures: ComparedFigure[];
  /** Settings that differ: what else could be behind a change, a sentence each. */
  differences: string[];
};

/** Below both, a difference is within what two runs of the same differ by. */
const noise = { share: 0.1, ms: 1, failedShare: 0.001 };

/** Compares two runs: latencies and errors of all calls and of each method. B is the newer one. */
export function compareReports(a: ComparedReport, b: ComparedReport): Comparison {
  const labels = [...new Set([...a.methods, ...b.methods].map(({ label }) => label))];
  const whole = (report: ComparedReport) => ({
    latencyMs: report.latencyMs,
    calls: report.calls.total,
    failed: report.calls.failed,
  });
  const rowOf = ({ methods }: ComparedReport, label: string) =>
    methods.find((method) => method.label === label);
  return {
    differences: findDifferences(a, b),
    figures: [
      compareFigure("all calls", "calls/s", a.rates.callsPerSecond, b.rates.callsPerSecond),
      ...compareRows("all calls", whole(a), whole(b)),
      ...labels.flatMap((label) => compareRows(label, rowOf(a, label), rowOf(b, label))),
    ],
  };
}

type Row = { latencyMs: ComparedReport["latencyMs"]; calls: number; failed: number };

function compareRows(what: string, a: Row | undefined, b: Row | undefined): ComparedFigure[] {
  const latency = (row: Row | undefined, figure: "p50" | "p90" | "p99") =>
    row === undefined || row.latencyMs.count === 0 ? undefined : row.latencyMs[figure];
  const failed = (row: Row | undefined) =>
    row === undefined || row.calls === 0 ? undefined : Math.min(1, row.failed / row.calls);
  return [
    ...(["p50", "p90", "p99"] as const).map((figure) =>
      compareFigure(what, figure, latency(a, figure), latency(b, figure)),
    ),
    compareFigure(what, "failed", failed(a), failed(b)),
  ];
}

function compareFigure(
  what: string,
  figure: ComparedFigure["figure"],
  a: number | undefined,
  b: number | undefined,
): ComparedFigure {
  return { what, figure, a, b, change: changeOf(figure, a, b) };
}

function changeOf(figure: ComparedFigure["figure"], a: number | undefined, b: number | undefined): Change {
  if (a === undefined) return b === undefined ? "about the same" : "only in B";
  if (b === undefined) return "only in A";
  const isSmall =
    figure === "failed"
      ? Math.abs(b - a) <= noise.failedShare
      : Math.abs(b - a) <= Math.max(a * noise.share, figure === "calls/s" ? 0 : noise.ms);
  if (isSmall) return "about the same";
  const isMore = b > a;
  return isMore === (figure === "calls/s") ? "better" : "worse";
}

function findDifferences(a: ComparedReport, b: ComparedReport): string[] {
  const names = [
    ["url", "the gateway"],
    ["mixFile", "the load file"],
    ["arrivals", "the arrivals"],
    ["connections", "the connections"],
    ["timeoutMs", "the timeout"],
  ] as const;
  const said = names.flatMap(([name, text]) => {
    const [left, right] = [JSON.stringify(a.settings[name]), JSON.stringify(b.settings[name])];
    return left === right ? [] : [`${text} differ${text.endsWith("s") ? "" : "s"}: ${left} and ${right}`];
  });
  const plans = [describePlan(a.settings), describePlan(b.settings)];
  if (plans[0] !== plans[1]) said.push(`the plans differ: ${plans.join(" against ")}`);
  const early = (
    [
      ["A", a],
      ["B", b],
    ] as const
  ).flatMap(([name, { endedBy }]) => (endedBy === null ? [] : [`${name} was ended early (${endedBy})`]));
  return [...said, ...early];
}

export function showFigure(figure: ComparedFigure["figure"], value: number | undefined): string {
  if (value === undefined) return "–";
  if (figure === "failed") return percent(value);
  return figure === "calls/s" ? rate(value) : milliseconds(value);
}

/** `+12 %`; empty where there is nothing to hold it against. */
export function showChange({ a, b, figure }: ComparedFigure): string {
  if (a === undefined || b === undefined) return "";
  if (figure === "failed") return `${b >= a ? "+" : "−"}${Number((Math.abs(b - a) * 100).toFixed(2))} points`;
  if (a === 0) return "";
  const share = (b - a) / a;
  return `${share >= 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(0)} %`;
}

/** Figures that got worse by more than a share; errors by more than that many of 100 calls. */
export function worseThan({ figures }: Comparison, share: number): ComparedFigure[] {
  return figures.filter(({ change, a = 0, b = 0, figure }) => {
    if (change !== "worse") return false;
    return figure === "failed" ? b - a > share : Math.abs(b - a) > a * share;
  });
}

/** The comparison for a terminal: what changed first, then the table. */
export function textComparison(comparison: Comparison, names: { a: string; b: string }): string {
  const { figures, differences } = comparison;
  const told = (change: Change) =>
    figures
      .filter((figure) => figure.change === change)
      .map((figure) => {
        const { what, figure: name, a, b } = figure;
        return `  ${what}, ${name}: ${showFigure(name, a)} → ${showFigure(name, b)} (${showChange(figure)})`;
      });
  const [worse, better] = [told("worse"), told("better")];
  const width = Math.max(...figures.map(({ what }) => what.length));
  const rows = figures.map((figure) => {
    const cells = [
      showFigure(figure.figure, figure.a),
      showFigure(figure.figure, figure.b),
      showChange(figure),
    ];
    return `${figure.what.padEnd(width)}  ${figure.figure.padEnd(7)}  ${cells.map((cell) => cell.padStart(11)).join("")}  ${figure.change}`;
  });
  return [
    `A is ${names.a}`,
    `B is ${names.b}`,
    ...differences.map((text) => `Note: ${text}.`),
    "",
    ...(worse.length === 0 ? ["Nothing got worse."] : [`${worse.length} figures got worse:`, ...worse]),
    ...(better.length === 0 ? ["Nothing got better."] : [`${better.length} figures got better:`, ...better]),
    "",
    ...rows,
    "",
  ].join("\n");
}
