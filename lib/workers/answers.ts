import type { Registry } from "prom-client";
import { z } from "zod";
import type { OpsAnswer, Readiness } from "../ops-server.ts";
import { statusOfReload } from "../reload/answer-reload.ts";
import type { ReloadReport } from "../reload/reloader.ts";
import { differsOnDisk } from "../version.ts";
import type { createMetricSum } from "./sum-metrics.ts";
import type { Supervisor } from "./supervisor.ts";
import type { WorkerProcess } from "./worker-process.ts";

const readinessSchema = z.object({
  ready: z.boolean(),
  degraded: z.boolean().default(false),
  reasons: z.array(z.string()),
});
const statusSchema = z.record(z.string(), z.unknown());

/** What the ops server of a primary answers, for all its workers. */
export function createAnswers({
  name,
  supervisor,
  metricSum,
  registry,
  shared,
  state,
  restart,
  whatRemains = differsOnDisk,
}: {
  name: string;
  supervisor: Pick<Supervisor, "serving" | "all" | "places">;
  metricSum: Pick<ReturnType<typeof createMetricSum>, "text">;
  /** The primary's own metrics. */
  registry: Registry;
  shared: readonly string[];
  state: () => "starting" | "serving" | "stopping";
  restart: () => object | undefined;
  /** What a restart of the workers leaves as it is. */
  whatRemains?: () => string | undefined;
}) {
  /** Where a process does not answer `undefined` stands for it. */
  const askAll = (workers: readonly WorkerProcess[], what: string): Promise<unknown[]> =>
    Promise.all(workers.map((worker) => worker.ask(what).catch(() => undefined)));

  return {
    async readiness(): Promise<Readiness> {
      const processes = [...supervisor.serving(), ...supervisor.serving("side")];
      const told = (await askAll(processes, "readiness")).map((each) => readinessSchema.safeParse(each).data);
      const reasons = new Set(told.flatMap((each) => each?.reasons ?? []));
      for (const [index, { name: process }] of processes.entries()) {
        if (told[index] === undefined) reasons.add(`${process} does not answer`);
      }
      for (const place of supervisor.places()) {
        if (place.state !== "serving" && state() === "serving") {
          reasons.add(`${place.name} is being replaced (it ended unasked ${place.deaths} times)`);
        }
      }
      const ready =
        state() === "serving" &&
        processes.some(({ role }, index) => role === "worker" && told[index]?.ready === true);
      return {
        ready,
        degraded: reasons.size > 0,
        reasons: ready ? [...reasons] : [...new Set([state(), ...reasons])],
      };
    },

    async status(): Promise<object> {
      const workers = supervisor.serving();
      const each = (await askAll(workers, "status")).map((told) => statusSchema.safeParse(told).data);
      const first = each.find((told) => told !== undefined) ?? {};
      return {
        process: name,
        state: state(),
        ...Object.fromEntries(Object.entries(first).filter(([member]) => shared.includes(member))),
        workers: { processes: supervisor.places(), restart: restart() ?? null },
        each: Object.fromEntries(workers.map(({ name: worker }, index) => [worker, each[index] ?? null])),
      };
    },

    /** What a process last told stands for one that does not answer, so that no sum falls. */
    async metrics(): Promise<string> {
      const told = supervisor.all().map(async (worker) => {
        try {
          return await worker.ask("metrics");
        } catch {
          return worker.state() === "ended" ? [] : worker.lastMetrics();
        }
      });
      return metricSum.text([await registry.getMetricsAsJSON(), ...(await Promise.all(told))]);
    },

    ofReload: (report: ReloadReport): OpsAnswer => ({ status: statusOfReload(report), body: report }),

    ofRestart(why: string | undefined): OpsAnswer {
      if (why !== undefined) return { status: 409, body: { outcome: "refused", problems: [why] } };
      const remains = whatRemains();
      return { status: 202, body: { outcome: "begun", ...(remains === undefined ? {} : { remains }) } };
    },
  };
}
