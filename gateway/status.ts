import type { Readiness } from "../lib/ops-server.ts";
import type { Reloader } from "../lib/reload/reloader.ts";
import type { AnswerBudget } from "./answer-budget/answer-budget.ts";
import type { KeyCache } from "./auth/key-cache.ts";
import { lossReasons } from "./auth/key-loss.ts";
import type { GatewayConfig } from "./config.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { HttpServer } from "./server/http-server.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** How far the gateway has come. `limiter`, `http` and `reloader` are there once it has them. */
export type Progress = {
  state: "starting" | "serving" | "stopping";
  limiter: Limiter | undefined;
  http: HttpServer | undefined;
  reloader: Reloader | undefined;
};

/** What the ops server tells: `/readyz` and `/status`. */
export function createStatus({
  config,
  progress,
  keys,
  upstream,
  answerBudget,
}: {
  config: GatewayConfig;
  progress: Progress;
  keys: KeyCache;
  upstream: Pick<Upstream, "problems" | "status">;
  answerBudget: Pick<AnswerBudget, "heldBytes">;
}) {
  return {
    readiness(): Readiness {
      const { state, limiter } = progress;
      const reasons = [];
      const lost = keys.loss();
      if (lost !== undefined) reasons.push(lossReasons[lost]);
      else if (limiter?.state().answers !== true) reasons.push("Redis does not answer");
      reasons.push(...upstream.problems());
      const ready = state === "serving";
      return { ready, degraded: reasons.length > 0, reasons: ready ? reasons : [state, ...reasons] };
    },

    status() {
      const { state, limiter, http, reloader } = progress;
      return {
        process: "gateway",
        state,
        profile: config.profile,
        config: reloader?.status(),
        redis: { ...limiter?.state(), hearsKeyChanges: keys.hearsChanges() },
        keys: { ...keys.history(), loss: keys.loss(), lookUps: keys.stats() },
        tls: http?.certificate(),
        limits: { keysWithLease: limiter?.keysWithLease(), ...limiter?.stats() },
        answers: { heldBytes: answerBudget.heldBytes(), ofBytes: config.answers.processBytesMax },
        ...upstream.status(),
      };
    },
  };
}
