import type { Registry } from "prom-client";
import { registerTlsMetrics } from "../../gateway/http/tls-metrics.ts";
import { registerLimiterMetrics } from "../../gateway/limits/limiter-metrics.ts";
import { createLimiterStats } from "../../gateway/limits/limiter-stats.ts";
import { createGatewayMetrics } from "../../gateway/metrics.ts";
import { registerHeadMetrics } from "../../gateway/upstream/head-metrics.ts";
import { registerPoolMetrics } from "../../gateway/upstream/pool/pool-metrics.ts";
import { errorTable } from "../../lib/errors.ts";

/** The parts of documents that are made from code, by the name that stands in their markers. */
export const generated: Readonly<Record<string, () => string>> = {
  errors: errorsTable,
  "gateway-metrics": gatewayMetricsTable,
};

/**
 * Replaces what stands between `<!-- generated: NAME -->` and `<!-- end -->` by what the code says now.
 * @throws Error for a name that nothing generates.
 */
export function regenerate(markdown: string): string {
  return markdown.replace(
    /(<!-- generated: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, start, name, end) => {
      const make = generated[name];
      if (make === undefined) throw new Error(`nothing generates "${name}"`);
      return `${start}\n${make()}\n\n${end}`;
    },
  );
}

function errorsTable(): string {
  return table(
    ["HTTP status", "`code`", "JSON-RPC number", "Meaning"],
    Object.values(errorTable).map(({ status, code, rpcCode, meaning }) => [
      String(status),
      `\`${code}\``,
      String(rpcCode),
      meaning,
    ]),
  );
}

function gatewayMetricsTable(): string {
  return metricsTable(gatewayRegistry());
}

/** Every metric that a gateway registers, without a gateway: nothing asks these for their values. */
export function gatewayRegistry(): Registry {
  const { registry } = createGatewayMetrics();
  const state = () => ({ answers: true, since: 0, reason: undefined });
  const limiter = { state, stats: createLimiterStats, keysWithLease: () => 0 };
  registerLimiterMetrics({ registry, limiter });
  registerTlsMetrics({ registry, certificate: () => undefined });
  registerHeadMetrics({
    registry,
    head: {
      announced: () => undefined,
      isStalled: () => false,
      epoch: () => ({ number: 1, genesisHash: undefined, startedAt: 0 }),
      status: () => [],
    },
  });
  registerPoolMetrics({ registry, members: [], dispatcher: { lanes: [] } });
  return registry;
}

/** Our own names; the ones of the Node.js process that prom-client adds are its to document. */
function metricsTable(registry: Registry): string {
  const ours = registry.getMetricsAsArray().filter(({ name }) => name.startsWith("tollgate_"));
  return table(
    ["Name", "Kind", "Labels", "Meaning"],
    ours.map((metric) => [
      `\`${metric.name}\``,
      String(metric.type),
      "labelNames" in metric && Array.isArray(metric.labelNames)
        ? metric.labelNames.map((label) => `\`${label}\``).join(", ")
        : "",
      metric.help,
    ]),
  );
}

/** A Markdown table with its columns aligned, as the formatter leaves it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], filler: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, filler)).join(" | ")} |`;
  const rule = head.map(() => "");
  return [line(head, " "), line(rule, "-"), ...rows.map((row) => line(row, " "))].join("\n");
}
