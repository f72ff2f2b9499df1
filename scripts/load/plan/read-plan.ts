import type { Mix } from "../mix/mix-schema.ts";
import type { LoadOptions } from "../options.ts";
import { clientsPerSecondDefault, type Plan } from "./plan.ts";
import type { StageFields } from "./stages-schema.ts";

/** The command line's plan, else the load file's; undefined where neither has one. */
export function readPlan(
  { stages, clients }: Pick<LoadOptions, "stages" | "clients">,
  mix: Mix,
): Plan | undefined {
  const pace = { thinkMs: mix.think ?? 0, maxPerSecond: mix.maxRate ?? clientsPerSecondDefault };
  if (stages !== undefined) return { kind: "rate", stages };
  if (clients !== undefined) {
    const { count, durationMs } = clients;
    return { kind: "clients", stages: [{ fromClients: count, toClients: count, durationMs }], ...pace };
  }
  if (mix.stages === undefined) return undefined;
  if (mix.stages.some((stage) => stage.clients !== undefined)) {
    return {
      kind: "clients",
      stages: mix.stages.map((stage) => {
        const toClients = stage.clients ?? 0;
        return { fromClients: stage.from ?? toClients, toClients, durationMs: stage.for };
      }),
      ...pace,
    };
  }
  return { kind: "rate", stages: mix.stages.map(rateStage) };
}

function rateStage({ rate = 0, from, for: durationMs }: StageFields) {
  return { fromPerSecond: from ?? rate, toPerSecond: rate, durationMs };
}
