import { z } from "zod";
import type { ReloadReport } from "../reload/reloader.ts";
import type { Supervisor } from "./supervisor.ts";

const changeSchema = z
  .object({ path: z.string(), from: z.unknown(), to: z.unknown() })
  .transform(({ path, from, to }) => ({ path, from, to }));

/** How a worker's half of a reload ended. */
const reportSchema = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.enum(["changed", "same", "checked"]), changes: z.array(changeSchema) }),
  z.object({ outcome: z.literal("refused"), problems: z.array(z.string()) }),
  z.object({ outcome: z.literal("too_soon"), retryAfterMs: z.number() }),
]);
const stagedSchema = z.object({ report: reportSchema, settings: z.unknown() });

/**
 * Has every worker take a new configuration, or none. The first one reads the files; what it has read is judged by each, and
 * only then all take it. A worker that ends meanwhile is replaced by one with the settings that count then; one that fails
 * to take what it has judged to be in order, or that was starting, is killed and replaced so.
 */
export async function reloadAll({
  supervisor,
  dryRun,
}: {
  supervisor: Pick<Supervisor, "serving" | "all">;
  dryRun: boolean;
}): Promise<{ report: ReloadReport; settings: unknown }> {
  const [first, ...others] = supervisor.serving();
  if (first === undefined) return refused(["no worker serves just now"]);
  const starting = supervisor.all().filter((worker) => worker.state() === "starting");
  const staged = await read(first.ask("stage"));
  const { report, settings } = staged;
  if (report.outcome !== "checked") return drop(staged);
  const judged = await Promise.all(others.map((worker) => read(worker.ask("stage", { settings }))));
  const refusals = judged.flatMap((each) => (each.report.outcome === "refused" ? each.report.problems : []));
  if (refusals.length > 0) return drop(refused([...new Set(refusals)]));
  if (dryRun) return drop({ report, settings: undefined });

  const serving = [first, ...others];
  const taken = await Promise.all(serving.map((worker) => read(worker.ask("take"))));
  for (const worker of supervisor.serving("side")) await worker.ask("take", { settings }).catch(worker.kill);
  const isTaken = ({ report: { outcome } }: (typeof taken)[number]) =>
    outcome === "changed" || outcome === "same";
  // Nothing but a fault of ours leads here. Those that have taken it are right: all of them have judged it.
  for (const [index, worker] of serving.entries()) {
    const how = taken[index];
    if (how !== undefined && !isTaken(how) && worker.state() === "serving") worker.kill();
  }
  for (const worker of starting) worker.kill();
  return { report: taken.find(isTaken)?.report ?? report, settings };

  async function drop<Answer extends { report: ReloadReport }>(answer: Answer) {
    const problems = answer.report.outcome === "refused" && !dryRun ? answer.report.problems : [];
    await Promise.allSettled(supervisor.serving().map((worker) => worker.ask("drop", { problems })));
    return { report: answer.report, settings: undefined };
  }
}

async function read(asked: Promise<unknown>): Promise<z.output<typeof stagedSchema>> {
  try {
    return stagedSchema.parse(await asked);
  } catch (error) {
    return refused([`a worker could not be asked: ${error instanceof Error ? error.message : error}`]);
  }
}

function refused(problems: string[]): z.output<typeof stagedSchema> {
  return { report: { outcome: "refused", problems }, settings: undefined };
}
