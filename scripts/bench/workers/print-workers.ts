import { columns, spreadText, thousands, twoDigits } from "../gateway/figures.ts";
import { judge } from "./judge.ts";
import type { WorkersResult } from "./run-workers-bench.ts";

/** The figures for people, and below them the verdict. */
export function printWorkers({
  machine,
  rounds,
  seconds,
  connectionsPerWorker,
  rows,
}: WorkersResult): string {
  const { cpu, cores, proxyCores, loadCores, hasCores } = machine;
  const works = [...new Set(rows.map(({ work }) => work))];
  const tables = works.flatMap((work) => [
    "",
    `${work}:`,
    ...columns([
      [
        "workers",
        "calls/s",
        "× one",
        "CPU µs a call",
        "× one",
        "array",
        "memory",
        "errors",
        "CPU time by process",
      ],
      ...rows
        .filter((row) => row.work === work)
        .map((row) => [
          String(row.workers),
          spreadText(row.callsPerSecond, thousands),
          row.workers === 1 ? "" : spreadText(row.againstOne.callsPerSecond, twoDigits),
          spreadText(row.cpuUsPerCall, (value) => value.toFixed(1)),
          row.workers === 1 ? "" : spreadText(row.againstOne.cpuPerCall, twoDigits),
          row.arrayLength.median.toFixed(1),
          `${Math.round(row.memoryBytes.median / 1024 / 1024)} MB`,
          String(row.errors + row.wrong),
          Object.entries(row.shares)
            .map(([name, share]) => `${name} ${(share * 100).toFixed(1)} %`)
            .join(", "),
        ]),
    ]),
  ]);
  const most = Math.max(...rows.map(({ workers }) => workers));
  const place = hasCores
    ? `gateways on cores ${proxyCores.join(", ")}; load, validators and Redis on ${loadCores.join(", ")}`
    : `too few for ${most} workers and their load (${2 * most}): all processes of a gateway share core ${proxyCores.join(", ")}, so the CPU time of a call is judged; load, validators and Redis on ${loadCores.join(", ")}`;
  return [
    `${cpu}, ${cores} cores; ${place}`,
    `medians of ${rounds} rounds of ${seconds} s (lowest–highest), ${connectionsPerWorker} connections for each worker; array: calls in one request to a validator`,
    ...tables,
    "",
    ...rows.filter(({ workers }) => workers > 1).map((row) => judge(row, { hasCores }).text),
    ...rows.flatMap(({ work, workers, problems }) =>
      problems.map((problem) => `wrong: ${work}, ${workers} workers: ${problem}`),
    ),
  ].join("\n");
}
