import type { OpsAnswer } from "../ops-server.ts";
import type { Reloader, ReloadReport } from "./reloader.ts";

/** Carries out a `POST /reload` of the ops server. `reloader` is undefined while the process starts or stops. */
export function answerReload(
  reloader: Pick<Reloader, "reload"> | undefined,
  { dryRun }: { dryRun: boolean },
): OpsAnswer {
  if (reloader === undefined) return { status: 503, body: starting };
  const report = reloader.reload({ dryRun });
  return { status: statusOfReload(report), body: report };
}

/** The HTTP status that tells how a reload ended. */
export function statusOfReload({ outcome }: ReloadReport): number {
  return statusOf[outcome];
}

/** What a process answers that is not yet, or not any more, serving. */
const starting = { outcome: "refused", problems: ["the process starts or stops just now"] };

const statusOf = {
  changed: 200,
  same: 200,
  checked: 200,
  refused: 409,
  too_soon: 429,
} as const satisfies Record<ReloadReport["outcome"], number>;
