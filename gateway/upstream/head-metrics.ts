import { Gauge, type Registry } from "prom-client";
import type { HeadTracker } from "./head/head-tracker.ts";

/** Shows the head at `/metrics`; read when somebody asks. `validator` is a validator's place in the configuration. */
export function registerHeadMetrics({
  registry,
  head,
}: {
  registry: Registry;
  head: Pick<HeadTracker, "announced" | "isStalled" | "epoch" | "status">;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_gateway_head_number",
    help: "Number of the announced head; 0 while there is none",
    registers,
    collect() {
      this.set(Number(head.announced()?.number ?? 0n));
    },
  });
  new Gauge({
    name: "tollgate_gateway_chain_stalled",
    help: "1 while validators answer and none has a new block",
    registers,
    collect() {
      this.set(head.isStalled() ? 1 : 0);
    },
  });
  new Gauge({
    name: "tollgate_gateway_chain_epoch",
    help: "Counts the chains seen since the start: it grows when the chain was reset, reverted or made anew",
    registers,
    collect() {
      this.set(head.epoch().number);
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_height",
    help: "Latest block of a validator; none where it is not known to be of this chain",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, height } of head.status()) {
        if (height !== null) this.set({ validator: label }, height);
      }
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_lag_blocks",
    help: "Blocks that a validator is below the announced head",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, lag } of head.status()) if (lag !== null) this.set({ validator: label }, lag);
    },
  });
}
