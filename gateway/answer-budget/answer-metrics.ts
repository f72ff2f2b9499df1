import { Counter, Gauge, type Registry } from "prom-client";
import { type AnswerBudget, answerBounds } from "./answer-budget.ts";
import type { ReaderWatch } from "./reader-watch.ts";

/** Registers the metrics of answers, which are read when they are scraped. */
export function registerAnswerMetrics({
  registry,
  answerBudget,
  readers,
}: {
  registry: Registry;
  answerBudget: Pick<AnswerBudget, "heldBytes" | "keysHolding" | "refused">;
  readers: Pick<ReaderWatch, "closed">;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_gateway_answer_bytes_held",
    help: "What answers of more than 16 KiB hold until their readers have taken them, in bytes",
    registers,
    collect() {
      this.set(answerBudget.heldBytes());
    },
  });
  new Gauge({
    name: "tollgate_gateway_answer_keys_holding",
    help: "Keys whose answers hold some of it",
    registers,
    collect() {
      this.set(answerBudget.keysHolding());
    },
  });
  new Counter({
    name: "tollgate_gateway_answer_bounds_met_total",
    help: "Answers that found no room, by bound: of their body, their key, or the process",
    labelNames: ["bound"],
    registers,
    collect() {
      this.reset();
      for (const bound of answerBounds) this.inc({ bound }, answerBudget.refused(bound));
    },
  });
  new Counter({
    name: "tollgate_gateway_slow_readers_closed_total",
    help: "Connections closed because their clients read a long answer too slowly",
    registers,
    collect() {
      this.reset();
      this.inc(readers.closed());
    },
  });
}
