import { Gauge, type Registry } from "prom-client";
import type { HeadTracker } from "./head/head-tracker.ts";
import { outsideReasons } from "./head/validator.ts";

/** Registers the head's metrics, which are read when they are scraped. `validator` is a validator's name. */
export function registerHeadMetrics({
  registry,
  head,
}: {
  registry: Registry;
  head: Pick<HeadTracker, "announced" | "isStalled" | "headAgeMs" | "epoch" | "status" | "differences">;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_gateway_head_number",
    aggregator: "max",
    help: "Number of the announced head; 0 while there is none",
    registers,
    collect() {
      this.set(Number(head.announced()?.number ?? 0n));
    },
  });
  new Gauge({
    name: "tollgate_gateway_chain_stalled",
    aggregator: "max",
    help: "1 while no block was announced for long, whether validators answer or not",
    registers,
    collect() {
      this.set(head.isStalled() ? 1 : 0);
    },
  });
  new Gauge({
    name: "tollgate_gateway_head_age_seconds",
    aggregator: "min",
    help: "Seconds since a block was last announced, or since the start while none was",
    registers,
    collect() {
      this.set(head.headAgeMs() / 1000);
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_silent_seconds",
    aggregator: "min",
    help: "Seconds since a validator last answered or brought a block; none where it never has",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, silentMs } of head.status()) {
        if (silentMs !== null) this.set({ validator: label }, silentMs / 1000);
      }
    },
  });
  new Gauge({
    name: "tollgate_gateway_chain_epoch",
    aggregator: "max",
    help: "Counts the chains seen since the start: it grows when the chain was reset, reverted or made anew",
    registers,
    collect() {
      this.set(head.epoch().number);
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_height",
    aggregator: "max",
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
    aggregator: "max",
    help: "Blocks that a validator is below the announced head",
    labelNames: ["validator"],
    registers,
    collect() {
      this.reset();
      for (const { label, lag } of head.status()) if (lag !== null) this.set({ validator: label }, lag);
    },
  });
  new Gauge({
    name: "tollgate_gateway_validator_outside",
    aggregator: "max",
    help: `1 while a validator stands outside of what the others say, and so is not asked: ${outsideReasons.join(", ")}`,
    labelNames: ["validator", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { label, outside } of head.differences().outside) {
        this.set({ validator: label, reason: outside.reason }, 1);
      }
    },
  });
  new Gauge({
    name: "tollgate_gateway_heads_waiting",
    aggregator: "max",
    help: "Blocks that some validators have and that are not announced since the others do not, or have another one",
    registers,
    collect() {
      this.set(head.differences().waiting.length);
    },
  });
}
