import { columns, spreadText, thousands, twoDigits } from "./figures.ts";
import type { BenchResult } from "./run-bench.ts";
import type { LatencyRow, WorkloadRow } from "./summarize.ts";
import { workloads } from "./workloads.ts";

/** The result for people: a table for each workload, then what each contestant is. */
export function printResult(result: BenchResult): string {
  const { machine, rounds, seconds, connections } = result;
  const tables = workloads.flatMap(({ name, title }) => {
    const rows = result.works.filter((row) => row.work === name);
    return rows.length === 0 ? [] : ["", `${name}: ${title}`, ...workloadTable(rows)];
  });
  const latency =
    result.latency.length === 0
      ? []
      : [
          "",
          "latency: what is added to the time of a validator asked directly, at half of each one's own rate, unique calls",
          ...latencyTable(result.latency),
        ];
  return [
    `${machine.cpu}, ${machine.cores} cores; each proxy on core ${machine.proxyCores.join(", ")} alone, load, validators and Redis on ${machine.loadCores.join(", ")}`,
    `medians of ${rounds} rounds of ${seconds} s (lowest–highest), ${connections} connections`,
    ...tables,
    ...latency,
    "",
    ...notes(result),
  ].join("\n");
}

function workloadTable(rows: readonly WorkloadRow[]): string[] {
  return columns([
    [
      "",
      "requests/s",
      "p50 ms",
      "p99 ms",
      "requests/CPU s",
      "of nginx",
      "with Redis",
      "array",
      "reached",
      "errors",
      "memory",
    ],
    ...rows.map((row) => [
      row.contestant,
      thousands(row.requestsPerSecond.median),
      row.p50Ms.median.toFixed(2),
      row.p99Ms.median.toFixed(2),
      spreadText(row.requestsPerCpuSecond, thousands),
      spreadText(row.againstNginx?.requestsPerCpuSecond, twoDigits),
      row.againstNginx?.requestsPerCpuSecondWithRedis.median.toFixed(2) ?? "",
      row.arrayLength.median.toFixed(1),
      `${(row.reachedShare.median * 100).toFixed(0)} %`,
      errorsText(row),
      `${Math.round(row.peakMemoryBytes.median / 1024 / 1024)} MB`,
    ]),
  ]);
}

function latencyTable(rows: readonly LatencyRow[]): string[] {
  return columns([
    ["", "requests/s", "direct p50 ms", "p99 ms", "added p50 ms", "added p99 ms", "errors"],
    ...rows.map((row) => [
      row.contestant,
      thousands(row.requestsPerSecond.median),
      row.directP50Ms.median.toFixed(2),
      row.directP99Ms.median.toFixed(2),
      spreadText(row.addedP50Ms, twoDigits),
      spreadText(row.addedP99Ms, twoDigits),
      String(row.errors),
    ]),
  ]);
}

function errorsText({ errors, wrong }: WorkloadRow): string {
  return wrong === 0 ? String(errors) : `${errors}, ${wrong} wrong`;
}

/** What the columns mean, who was there, and what went wrong. */
function notes({ contestants, skipped, works: rows }: BenchResult): string[] {
  const problems = rows.flatMap(({ contestant, work, rounds }) =>
    rounds.flatMap(({ wrong: { firstProblem } }) =>
      firstProblem === undefined ? [] : [`wrong: ${contestant} at ${work}: ${firstProblem}`],
    ),
  );
  return [
    "requests/CPU s: by the CPU time of the proxy's processes. with Redis: of nginx too, with the time of the Redis that it asks.",
    "array: calls in one request to a validator. memory: the most that was held.",
    "reached: calls that a validator was asked, of all answered; what is under way when a turn ends makes it a little more.",
    "A batch is one request. A limit counts each call of it with node-undici and ours, the whole as one with nginx and HAProxy.",
    "",
    ...contestants.map(({ name, title, version }) => `${name}: ${title} (${version})`),
    ...skipped.map((reason) => `skipped: ${reason}`),
    ...problems,
  ];
}
