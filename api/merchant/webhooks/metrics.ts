import { Counter, Gauge, type Registry } from "prom-client";

export function createWebhookMetrics(registry: Registry, { underway }: { underway: () => number }) {
  new Gauge({
    name: "api_webhooks_underway",
    help: "Webhooks that this process is sending",
    registers: [registry],
    collect() {
      this.set(underway());
    },
  });
  return new Counter({
    name: "api_webhook_attempts_total",
    help: "Webhooks that this process sent, by what came of it: delivered, waiting (it is tried again), dead (given up)",
    labelNames: ["outcome"],
    registers: [registry],
  });
}
