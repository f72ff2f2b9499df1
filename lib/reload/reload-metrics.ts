import { Gauge, type Registry } from "prom-client";
import type { Reloader } from "./reloader.ts";

/** Registers whether the configuration could be read again, as Prometheus tells it of itself. */
export function registerReloadMetrics({
  registry,
  reloader,
}: {
  registry: Registry;
  /** Undefined until the process serves. */
  reloader: () => Pick<Reloader, "status"> | undefined;
}): void {
  const registers = [registry];
  new Gauge({
    name: "tollgate_config_last_reload_successful",
    aggregator: "min",
    help: "0 after a reload of the configuration was refused, until one is taken; else 1",
    registers,
    collect() {
      this.set(reloader()?.status().lastReload?.outcome === "refused" ? 0 : 1);
    },
  });
  new Gauge({
    name: "tollgate_config_last_reload_success_timestamp_seconds",
    aggregator: "min",
    help: "When the configuration was last read and taken, at the start or by a reload, in Unix seconds",
    registers,
    collect() {
      const loadedAt = reloader()?.status().loadedAt;
      if (loadedAt !== undefined) this.set(Date.parse(loadedAt) / 1000);
    },
  });
}
