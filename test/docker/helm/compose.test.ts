import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { z } from "zod";
import { readApiConfig } from "../../../api/config.ts";
import { readFaucetConfig } from "../../../faucet/config.ts";
import { readGatewayConfig } from "../../../gateway/config.ts";
import { readManifest } from "../../../genesis/manifest.ts";
import { findProgram } from "../../../scripts/processes/find-program.ts";
import { runCommand } from "../../helpers/run-command.ts";
import { findHelmTools, type HelmTools } from "./helm-tools.ts";
import { allowedPairs, type Pair } from "./policy-pairs.ts";
import {
  type ChartDocument,
  configMap,
  mustRender,
  readYaml,
  repositoryPath,
  temporaryFolder,
  type Workload,
  workloadsOf,
  writeNetworkFiles,
} from "./render-chart.ts";

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      image: z.string(),
      environment: z.record(z.string(), z.unknown()).default({}),
      networks: z
        .union([z.array(z.string()), z.record(z.string(), z.unknown()).transform((all) => Object.keys(all))])
        .default([]),
      ports: z.array(z.string()).default([]),
      mem_limit: z.string().default(""),
      cpus: z.coerce.string().default(""),
      stop_grace_period: z.string(),
      healthcheck: z.looseObject({ test: z.array(z.string()).default([]) }).default({ test: [] }),
    }),
  ),
});
const { services } = composeSchema.parse(readYaml("docker/compose.yaml"));

/** Components of the chart, by the names of compose's services. */
const componentOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`validator-${number}`, "validator"])),
  ...Object.fromEntries(
    ["trace-node", "gateway", "faucet", "api", "network-exporter"].map((name) => [name, name]),
  ),
  prometheus: "prometheus",
  redis: "redis",
  "redis-faucet": "redis-faucet",
  postgres: "postgres",
};
/** Variables that stand for what in compose is an address, a mounted file, or not there. */
const onlyInTheChart: Readonly<Record<string, readonly string[]>> = {
  gateway: ["DRAIN_DELAY_MS", "GATEWAY_PROCESSES", "GATEWAY_TRUSTED_PROXIES"],
  faucet: ["FAUCET_ALLOWLIST", "FAUCET_PRIVATE_HOSTS", "FAUCET_TRUSTED_PROXIES"],
  api: [],
  "network-exporter": [],
  validator: ["POD_IP", "POD_NAME"],
};

/** Who connects to whom without an address in a variable. */
const besidesAddresses: readonly Pair[] = [
  { from: "validator", to: "validator", port: 30_303 },
  // New blocks are heard over a WebSocket on the port behind HTTP's.
  { from: "gateway", to: "validator", port: 8546 },
  { from: "network-exporter", to: "validator", port: 8545 },
  ...[9540, 5001, 5000, 9560, 9545].map((port, index) => ({
    from: "prometheus",
    to: ["gateway", "faucet", "api", "network-exporter", "validator"][index] ?? "",
    port,
  })),
];

const monitorSchema = z.looseObject({
  spec: z.looseObject({
    jobLabel: z.string(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    endpoints: z.array(z.looseObject({ port: z.string() })),
  }),
});
const groupsSchema = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(z.looseObject({ alert: z.string(), annotations: z.record(z.string(), z.string()) })),
    }),
  ),
});

const tools = findHelmTools();
if ("missing" in tools) t.plan(0, tools.missing);
else await compare(tools);

async function compare(tools: HelmTools): Promise<void> {
  const args = writeNetworkFiles(t);
  const { documents } = await mustRender(t, { tools, values: "production", args });
  const workloads = workloadsOf(documents);
  const workloadOf = (component: string) =>
    workloads.find(({ metadata }) => metadata.name === `tollgate-${component}`);
  const containerOf = (component: string) => workloadOf(component)?.spec.template.spec.containers[0];

  await t.test("each process has compose's image, memory, processors, ports and time to stop", async (t) => {
    for (const component of ["gateway", "faucet", "api", "network-exporter", "validator"]) {
      const service = services[component === "validator" ? "validator-1" : component];
      const container = containerOf(component);
      if (component === "validator") t.equal(container?.image, orElse(service?.image), "Besu");
      const { memory, cpu } = container?.resources.limits ?? {};
      t.equal(memory?.replace(/i$/, "").toLowerCase(), orElse(service?.mem_limit), `${component} memory`);
      t.equal(cpu, orElse(service?.cpus), `${component} processors`);
      const seconds = workloadOf(component)?.spec.template.spec.terminationGracePeriodSeconds ?? 0;
      t.ok(seconds >= Number.parseInt(service?.stop_grace_period ?? "", 10), `${component} stops`);
      const ports = container?.ports.map(({ containerPort }) => containerPort);
      for (const published of service?.ports ?? [])
        t.ok(ports?.includes(Number(/(\d+)$/.exec(published)?.[1])), `${component} ${published}`);
      const [, opsPort] = /^(\d+)$/.exec(service?.healthcheck.test.at(-1) ?? "") ?? [];
      if (component !== "validator") t.ok(ports?.includes(Number(opsPort)), `${component} ops ${opsPort}`);
    }
  });

  await t.test("each process has compose's variables, and no others without a reason", async (t) => {
    for (const [component, more] of Object.entries(onlyInTheChart)) {
      const service = services[component === "validator" ? "validator-1" : component];
      // Whose the contract is stands in fees.yaml, which production gives as a whole.
      const shared = (name: string) => !name.startsWith("FEE_");
      const wanted = [...Object.keys(service?.environment ?? {}), ...more].filter(shared);
      const given = containerOf(component)?.env.map(({ name }) => name) ?? [];
      t.same(given.filter(shared).sort(), wanted.sort(), component);
    }
  });

  await t.test("who shares no network in compose cannot connect, and who has to can", async (t) => {
    const allowed = allowedPairs(documents);
    const networksOf = (component: string) =>
      Object.entries(services).flatMap(([name, { networks }]) =>
        componentOf[name] === component ? networks : [],
      );
    t.ok(allowed.length > 10);
    for (const { from, to, port } of allowed) {
      const common = networksOf(from).filter((network) => networksOf(to).includes(network));
      t.ok(common.length > 0, `${from} → ${to}:${port} by ${common.join(", ")}`);
    }
    for (const { from, to, port } of [...addressed(workloads), ...besidesAddresses]) {
      const found = allowed.some((pair) => pair.from === from && pair.to === to && pair.port === port);
      t.ok(found, `${from} → ${to}:${port}`);
    }
    const told = allowed.map(({ from, to, port }) => `${from} → ${to}:${port}`);
    t.notOk(told.some((text) => /^(faucet|api|prometheus) → validator:(8545|8546|30303)/.test(text)));
    t.same(
      told.filter((text) => text.includes("faucet:4002")),
      ["gateway → faucet:4002"],
    );
  });

  await t.test("everything is denied first, and the public ports are for whom the values name", async (t) => {
    const policies = documents.filter(({ kind }) => kind === "NetworkPolicy");
    const deny = policies.find(({ metadata }) => metadata.name === "tollgate-default-deny");
    t.match(deny?.["spec"], { policyTypes: ["Ingress", "Egress"], ingress: undefined });
    const ingress = {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } },
    };
    for (const [component, port] of [
      ["gateway", 8540],
      ["faucet", 4001],
      ["api", 4000],
    ] as const) {
      const policy = policies.find(({ metadata }) => metadata.name === `tollgate-${component}`);
      t.match(
        JSON.stringify(policy),
        JSON.stringify({ ports: [{ port, protocol: "TCP" }], from: [ingress] }).slice(1, -1),
      );
    }
    const webhooks = JSON.stringify(policies.find(({ metadata }) => metadata.name === "tollgate-api"));
    for (const range of ["10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16", "172.16.0.0/12", "fc00::/7"])
      t.ok(webhooks.includes(`"${range}"`), `no webhook leads to ${range}`);
  });

  await t.test("Prometheus has compose's jobs, alerts and dashboard", async (t) => {
    const jobs = z.object({ scrape_configs: z.array(z.object({ job_name: z.string() })) });
    const inCompose = jobs.parse(readYaml("docker/prometheus/prometheus.yml")).scrape_configs;
    const monitors = documents.filter(({ kind }) => kind === "ServiceMonitor");
    const selected = monitors.map((monitor) => monitorSchema.parse(monitor).spec);
    // Of a cluster's disks and of Prometheus itself its operator's own exporters tell; its databases' operators back them up.
    const expected = inCompose
      .map(({ job_name }) => job_name)
      .filter((name) => !/^(disk|prometheus|backup)$/.test(name));
    t.same(selected.map(({ selector }) => selector.matchLabels["tollgate/job"]).sort(), expected.sort());
    for (const { jobLabel, selector, endpoints } of selected) {
      t.equal(jobLabel, "tollgate/job");
      const service = documents.find(
        ({ kind, metadata }) =>
          kind === "Service" &&
          Object.entries(selector.matchLabels).every(([label, value]) => metadata.labels[label] === value),
      );
      const ports = z.looseObject({ ports: z.array(z.looseObject({ name: z.string() })) });
      const names = ports.parse(service?.["spec"]).ports.map(({ name }) => name);
      t.ok(names.includes(endpoints[0]?.port ?? ""), service?.metadata.name ?? "no Service");
    }

    const rule = documents.find(({ kind }) => kind === "PrometheusRule");
    const { groups } = groupsSchema.parse(rule?.["spec"]);
    const own = groupsSchema.parse(readYaml("docker/prometheus/rules.yml")).groups;
    const volumes = groupsSchema.parse(readYaml("docker/helm/tollgate/files/volume-rules.yml")).groups;
    t.same(groups.map(withoutLinks), [...own, ...volumes]);
    const chapters = readFileSync(repositoryPath("docker/RUNBOOK.md"), "utf8");
    for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
      t.ok(chapters.includes(`\n## ${annotations["runbook"]}\n`), alert);
      const anchor = annotations["runbook"]?.toLowerCase().replaceAll(" ", "-");
      t.equal(annotations["runbook_url"], `https://git.example.org/tollgate/docker/RUNBOOK.md#${anchor}`);
    }
    const dashboard = readFileSync(repositoryPath("docker/grafana/dashboards/tollgate.json"), "utf8");
    t.equal(configMap(documents, "dashboard")["tollgate.json"]?.trim(), dashboard.trim());
  });

  await t.test("promtool takes the rules of volumes", async (t) => {
    const program = await findProgram({ names: ["promtool"], path: process.env["PATH"] });
    if (program === undefined) {
      if (process.env["CI"] === "true") throw new Error("promtool is not installed");
      t.plan(0, "promtool is not installed: Debian's package prometheus");
      return;
    }
    const file = repositoryPath("docker/helm/tollgate/files/volume-rules.yml");
    const { code, lines } = await runCommand(t, { program, args: ["check", "rules", file] });
    t.equal(code, 0, lines.join("\n"));
  });

  await t.test(
    "a validator's probe, and the development profile's files, are the shipped ones",
    async (t) => {
      const minimal = await mustRender(t, { tools, values: "minimal", args });
      const probe = readFileSync(repositoryPath("docker/probes/height-moves.sh"), "utf8");
      t.equal(configMap(documents, "network")["height-moves.sh"]?.trim(), probe.trim());
      for (const [name, text] of Object.entries(configMap(minimal.documents, "config")))
        t.equal(text.trim(), readFileSync(repositoryPath(`config/${name}`), "utf8").trim(), name);
    },
  );

  await t.test("the processes take their files with what the chart sets, in production", async (t) => {
    const folder = writeFiles(t, documents, "config");
    writeFileSync(join(folder, "secret"), "redis://:password@redis.example:6379\n");
    writeFileSync(join(folder, "postgres"), "postgres://tollgate:password@db.example:5432/tollgate\n");
    writeFileSync(join(folder, "key"), "tg_live_0123456789abcdef\n");
    const envOf = (component: string) =>
      Object.fromEntries(
        (containerOf(component)?.env ?? []).map(({ name, value = "" }) => {
          const secret =
            name === "POSTGRES_URL_FILE" ? "postgres" : name === "REDIS_URL_FILE" ? "secret" : "key";
          if (name === "API_FEES_FILE") return [name, join(folder, "fees.yaml")];
          return [name, value.startsWith("/run/secrets/") ? join(folder, secret) : value];
        }),
      );
    const gateway = readGatewayConfig({ file: join(folder, "gateway.yaml"), env: envOf("gateway") });
    t.match(gateway, {
      profile: "production",
      keys: [],
      drainDelayMs: 10_000,
      trustedProxies: ["10.2.0.0/16"],
      faucetUrl: "http://tollgate-faucet-private:4002",
      explorerUrl: "http://tollgate-api:4000",
      genesisHash: /^0x[0-9a-f]{64}$/,
    });
    t.equal(gateway.forward.processes, 6);
    t.same(
      gateway.upstreams,
      [1, 2, 3, 4, 5].map((n) => ({ name: `validator-${n}`, url: `http://tollgate-validator-${n}:8545` })),
    );
    const faucet = readFaucetConfig({ file: join(folder, "faucet.yaml"), env: envOf("faucet") });
    t.match(faucet, { profile: "production", wallet: { kind: "keystore" }, trustedProxies: ["10.2.0.0/16"] });
    t.same(faucet.private, { host: "0.0.0.0", port: 4002, hosts: ["tollgate-faucet-private"] });
    const api = readApiConfig({ file: join(folder, "api.yaml"), env: envOf("api") });
    t.match(api, {
      profile: "production",
      upstream: "http://tollgate-gateway:8540",
      origins: ["https://explorer.example.org", "https://www.example.org"],
      trustedProxies: ["10.2.0.0/16"],
    });
  });

  await t.test("the exporter reads where the nodes are, and nodes whom they meet", async (t) => {
    const folder = writeFiles(t, documents, "network");
    const read = readManifest(folder);
    const hosts = "manifest" in read ? read.manifest.validators.map(({ host }) => host) : read.problem;
    t.same(
      hosts,
      [1, 2, 3, 4, 5].map((number) => `tollgate-validator-${number}`),
    );
    const enodes = z.array(z.string()).parse(parse(readFileSync(join(folder, "static-nodes.json"), "utf8")));
    t.equal(new Set(enodes).size, 5);
    for (const [index, enode] of enodes.entries())
      t.match(enode, new RegExp(`^enode://[0-9a-f]{128}@tollgate-validator-${index + 1}:30303$`));
    for (const { metadata } of documents.filter(({ kind }) => kind === "StatefulSet"))
      t.equal(metadata.name, "tollgate-validator");
  });
}

function withoutLinks(group: z.output<typeof groupsSchema>["groups"][number]) {
  const rules = group.rules.map((rule) => {
    const { runbook_url: _link, ...annotations } = rule.annotations;
    return { ...rule, annotations };
  });
  return { ...group, rules };
}

/** The default in `${NAME:-default}`, which may be another one of these, or the text itself. */
function orElse(text: string | undefined): string | undefined {
  const inner = /^\$\{\w+:-(.*)\}$/.exec(text ?? "")?.[1];
  return inner === undefined ? text : orElse(inner);
}

/** Who connects to whom by what its variables say. */
function addressed(workloads: readonly Workload[]): Pair[] {
  return workloads.flatMap(({ metadata, spec }) =>
    spec.template.spec.containers.flatMap(({ env }) =>
      env.flatMap(({ value = "" }) =>
        [...value.matchAll(/http:\/\/tollgate-([a-z-]+?)(?:-\d+|-private)?:(\d+)/g)].map(
          ([, to = "", port]) => ({
            from: metadata.name.replace("tollgate-", ""),
            to,
            port: Number(port),
          }),
        ),
      ),
    ),
  );
}

function writeFiles(t: Test, documents: readonly ChartDocument[], name: string): string {
  const folder = temporaryFolder(t);
  for (const [file, text] of Object.entries(configMap(documents, name)))
    writeFileSync(join(folder, file), text);
  return folder;
}
