import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { z } from "zod";

import { createBackupMetrics } from "../../scripts/backup/service/metrics.ts";
import { apiRegistry, faucetRegistry, gatewayRegistry } from "../../scripts/docs/generated.ts";
import { createNetworkMetrics } from "../../scripts/network/exporter/network-metrics.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { runCommand } from "../helpers/run-command.ts";

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ runbook: z.string() }) }),
      ),
    }),
  ),
});
const dashboardSchema = z.object({
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});

const rules = rulesSchema
  .parse(parse(readFileSync(path("docker/prometheus/rules.yml"), "utf8")))
  .groups.flatMap((group) => group.rules);
const { panels } = dashboardSchema.parse(
  JSON.parse(readFileSync(path("docker/grafana/dashboards/tollgate.json"), "utf8")),
);

/** Names that are not ours, from where they come. Those of Besu are Prometheus's own for any process in Java. */
const foreign = [
  "up",
  "ALERTS",
  "node_filesystem_avail_bytes",
  "node_filesystem_size_bytes",
  "process_resident_memory_bytes",
];

async function promtool(t: Test, ...args: string[]) {
  const program = await findProgram({ names: ["promtool"], path: process.env["PATH"] });
  if (program === undefined) {
    if (process.env["CI"] === "true")
      throw new Error("promtool is not installed: Debian's package prometheus");
    t.plan(0, "promtool is not installed: Debian's package prometheus");
    return undefined;
  }
  return runCommand(t, { program, args });
}

t.test("Prometheus takes its configuration and the rules", async (t) => {
  const outcome = await promtool(t, "check", "config", path("docker/prometheus/prometheus.yml"));
  if (outcome !== undefined) t.equal(outcome.code, 0, outcome.lines.join("\n"));
});

const scrapedSchema = z.object({
  scrape_configs: z.array(
    z.object({
      static_configs: z.array(z.object({ targets: z.array(z.string()) })).default([]),
      dns_sd_configs: z.array(z.object({ names: z.array(z.string()), port: z.int() })).default([]),
    }),
  ),
});
const servicesSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      command: z.union([z.array(z.string()), z.string().transform((line) => line.split(" "))]).default([]),
      environment: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
});

t.test("what Prometheus asks answers to the name that it asks by", async (t) => {
  const yaml = (name: string): unknown =>
    parse(readFileSync(path(name), "utf8"), { merge: true, maxAliasCount: -1 });
  const targets = scrapedSchema
    .parse(yaml("docker/prometheus/prometheus.yml"))
    .scrape_configs.flatMap((job) => [
      ...job.static_configs.flatMap((group) => group.targets),
      ...job.dns_sd_configs.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
    ]);
  const { services } = servicesSchema.parse(yaml("docker/compose.yaml"));
  for (const [name, port] of [
    ["gateway", 9540],
    ["faucet", 5001],
    ["api", 5000],
    ["network-exporter", 9560],
    ["backup", 9570],
  ] as const) {
    t.ok(targets.includes(`${name}:${port}`), `${name} is scraped`);
    const { command = [], environment = {} } = services[name] ?? {};
    const told = [environment[`${name.toUpperCase()}_OPS_HOSTS`], command[command.indexOf("--hosts") + 1]];
    t.ok(told.includes(name), `${name} knows its name`);
  }
});

t.test("each alert goes off when it should and only then", async (t) => {
  const outcome = await promtool(t, "test", "rules", path("test/docker/prometheus-rules.yml"));
  if (outcome === undefined) return;
  t.equal(outcome.code, 0, outcome.lines.join("\n"));
  const tests = readFileSync(path("test/docker/prometheus-rules.yml"), "utf8");
  for (const { alert } of rules) t.ok(tests.includes(alert), `${alert} is tested`);
});

t.test("every metric that a rule or the dashboard names is one that there is", async (t) => {
  const registries = [
    gatewayRegistry(),
    apiRegistry(),
    faucetRegistry(),
    createBackupMetrics().registry,
    createNetworkMetrics({
      look: () => Promise.reject(new Error("nobody is asked")),
      stalledAfterSeconds: 10,
      now: Date.now,
    }),
  ];
  const known = new Set([
    ...foreign,
    ...registries.flatMap((registry) => registry.getMetricsAsArray().map(({ name }) => name)),
  ]);
  const expressions = [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
  t.ok(expressions.length > 40);
  for (const { where, expr } of expressions) {
    const names = metricNames(expr);
    t.not(names.length, 0, where);
    for (const name of names) t.ok(known.has(name.replace(/_bucket$/, "")), `${where}: ${name}`);
  }
});

t.test("every alert names a chapter of the runbook", async (t) => {
  const chapters = readFileSync(path("docker/RUNBOOK.md"), "utf8").split("\n");
  for (const { alert, annotations } of rules) t.ok(chapters.includes(`## ${annotations.runbook}`), alert);
});

t.test("no two panels of the dashboard have one number", async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
});

/** The metrics in an expression: words that are no function, keyword or label. */
function metricNames(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\b(by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
  const words = bare.match(/[a-zA-Z_][a-zA-Z0-9_]*(?!\s*\(|[a-zA-Z0-9_])/g) ?? [];
  const keywords = ["or", "and", "unless", "group_left", "by", "on", "m", "h", "s", "d"];
  return words.filter((word) => !keywords.includes(word) && !/^\d/.test(word));
}
