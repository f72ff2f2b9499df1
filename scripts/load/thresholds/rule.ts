import { didYouMean, nearest } from "../../../lib/cli/nearest.ts";

/** What is measured of each, and in which unit its values are. `byRow`: also of one method or tag. */
export const metrics = {
  latency: { kind: "trend", byRow: true, text: "from the time at which a request was due" },
  service: { kind: "trend", byRow: false, text: "from sending a request" },
  mined: { kind: "trend", byRow: false, text: "from a send to its receipt" },
  failed: { kind: "share", byRow: true, text: "calls that failed or were not sent" },
  calls: { kind: "counter", byRow: true, text: "calls that ended" },
  stuck: {
    kind: "count",
    byRow: false,
    text: "accepted transactions that the chain does not have after the run",
  },
} as const;
export type MetricName = keyof typeof metrics;
export type Unit = "ms" | "share" | "count" | "perSecond";

const operators = ["<=", "<", ">=", ">", "===", "==", "!="] as const;
export type Operator = (typeof operators)[number];

export type Selector = { by: "method" | "tag"; value: string };

/** One limit, as in k6: `latency{method:eth_call}` and `p(95)<200`. */
export type ThresholdRule = {
  /** How reports call it. */
  name: string;
  metric: MetricName;
  selector: Selector | undefined;
  /** `p` with the percentile, or what else can be taken of the metric. */
  take: "p" | "avg" | "min" | "max" | "rate" | "count";
  percentile: number;
  operator: Operator;
  limit: number;
  unit: Unit;
  /** Ends the run as soon as it is missed, `delayMs` after the start at the earliest. */
  abortOnFail: boolean;
  delayMs: number;
};

const takes: Readonly<Record<(typeof metrics)[MetricName]["kind"], readonly string[]>> = {
  trend: ["p(N)", "med", "avg", "min", "max"],
  share: ["rate", "count"],
  counter: ["count", "rate"],
  count: ["count"],
};

/** Reads `latency` or `failed{tag:writes}`; a text says what was expected. */
export function readMetric(text: string): { metric: MetricName; selector: Selector | undefined } | string {
  const match = /^([a-z]+)(?:\{\s*(\w+)\s*:\s*(.+?)\s*\})?$/.exec(text);
  const [, name = "", by, value] = match ?? [];
  const names = Object.keys(metrics);
  if (!isMetric(name)) {
    return `one of ${names.join(", ")} was expected, not "${text}".${didYouMean(nearest(name || text, names))}`;
  }
  if (by === undefined || value === undefined) return { metric: name, selector: undefined };
  if (by !== "method" && by !== "tag") return `{method:…} or {tag:…} was expected, not {${by}:…}`;
  if (!metrics[name].byRow) return `${name} is measured of the whole run only: leave {${by}:${value}} out`;
  return { metric: name, selector: { by, value } };
}

/** Reads `p(95)<200`, `rate<0.01`, `count>=100`; a text says what was expected. */
export function readCondition(
  text: string,
  metric: MetricName,
): Pick<ThresholdRule, "take" | "percentile" | "operator" | "limit" | "unit"> | string {
  const { kind } = metrics[metric];
  const expected = `a condition of ${metric} such as ${kind === "trend" ? "p(95)<200" : `${takes[kind][0]}<1`} was expected`;
  const match =
    /^\s*([a-z]+)(?:\((\d{1,3}(?:\.\d{1,4})?)\))?\s*(<=|<|>=|>|===|==|!=)\s*(\d{1,15}(?:\.\d{1,9})?)\s*$/.exec(
      text,
    );
  if (match === null) return `${expected}, not "${text}"`;
  const [, word = "", argument, sign, limit] = match;
  const operator = operators.find((candidate) => candidate === sign);
  const take = kind === "trend" && word === "med" ? "p" : takeOf(word);
  const isKnown = takes[kind].includes(word === "p" ? "p(N)" : word);
  if (operator === undefined || take === undefined || !isKnown) {
    return `${metric} has ${takes[kind].join(", ")}, not "${word}"`;
  }
  if ((word === "p") !== (argument !== undefined))
    return `p(N) has a percentile, the others none: not "${text}"`;
  const percentile = word === "med" ? 50 : Number(argument ?? 0);
  if (percentile > 100) return `a percentile is at most 100, not ${percentile}`;
  return { take, percentile, operator, limit: Number(limit), unit: unitOf(metric, take) };
}

function unitOf(metric: MetricName, take: ThresholdRule["take"]): Unit {
  if (take === "count") return "count";
  if (take !== "rate") return "ms";
  return metric === "failed" ? "share" : "perSecond";
}

function takeOf(word: string): ThresholdRule["take"] | undefined {
  return (["p", "avg", "min", "max", "rate", "count"] as const).find((candidate) => candidate === word);
}

function isMetric(name: string): name is MetricName {
  return Object.hasOwn(metrics, name);
}

/** What the options --max-p50 to --max-error-rate mean. */
export function atMost(
  name: string,
  metric: "latency" | "failed",
  limit: number,
  percentile = 0,
): ThresholdRule {
  return {
    name,
    metric,
    selector: undefined,
    take: metric === "failed" ? "rate" : "p",
    percentile,
    operator: "<=",
    limit,
    unit: metric === "failed" ? "share" : "ms",
    abortOnFail: false,
    delayMs: 0,
  };
}
