import { Gauge, type Registry } from "prom-client";
import type { Certificate } from "./certificate.ts";

export function registerTlsMetrics({
  registry,
  certificate,
}: {
  registry: Registry;
  certificate: () => Certificate | undefined;
}): void {
  new Gauge({
    name: "tollgate_gateway_tls_expiry_timestamp_seconds",
    aggregator: "min",
    help: "When the TLS certificate expires, in Unix seconds; none without TLS",
    registers: [registry],
    collect() {
      const expiresAtMs = certificate()?.expiresAtMs;
      if (expiresAtMs === undefined) this.remove();
      else this.set(expiresAtMs / 1000);
    },
  });
}
