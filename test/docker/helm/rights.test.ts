import t from "tap";
import { z } from "zod";
import { quorumOf } from "../../../lib/ibft/quorum.ts";
import { apiRegistry, gatewayRegistry } from "../../../scripts/docs/generated.ts";
import { findHelmTools, type HelmTools } from "./helm-tools.ts";
import {
  type ChartDocument,
  mustRender,
  readYaml,
  valueSets,
  type Workload,
  workloadsOf,
  writeNetworkFiles,
} from "./render-chart.ts";

const secretVolume = z.looseObject({
  name: z.string(),
  secret: z
    .object({
      secretName: z.string(),
      defaultMode: z.int(),
      items: z.array(z.object({ key: z.string(), path: z.string() })),
    })
    .optional(),
});
const selectorOf = z.looseObject({ spec: z.looseObject({ selector: z.record(z.string(), z.string()) }) });
const serviceSchema = z.looseObject({
  spec: z.looseObject({ ports: z.array(z.looseObject({ port: z.int(), targetPort: z.string() })) }),
});
const budgetSchema = z.object({
  spec: z.object({
    maxUnavailable: z.int(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
  }),
});
const scalerSchema = z.object({
  spec: z.object({
    metrics: z.array(
      z.looseObject({ pods: z.object({ metric: z.object({ name: z.string() }) }).optional() }),
    ),
  }),
});
const adapterSchema = z.object({
  rules: z.object({
    custom: z.array(
      z.object({ seriesQuery: z.string(), metricsQuery: z.string(), name: z.object({ as: z.string() }) }),
    ),
  }),
});

/** Which Secrets each pod has, of production.yaml: what it does not need is not there. */
const secretsOf: Readonly<Record<string, readonly string[]>> = {
  "tollgate-gateway": ["tollgate-redis"],
  "tollgate-faucet": ["tollgate-faucet-key", "tollgate-faucet-redis", "tollgate-faucet-wallet"],
  "tollgate-api": [
    ...["tollgate-api-key", "tollgate-invoice-signer", "tollgate-order-signer", "tollgate-postgres"],
    ...["tollgate-redis", "tollgate-sealing-key"],
  ],
  "tollgate-network-exporter": [],
  "tollgate-validator": ["tollgate-validator-keys"],
};

const podRights = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: Number,
    runAsGroup: Number,
    fsGroup: Number,
    seccompProfile: { type: "RuntimeDefault" },
  },
};
const containerRights = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
  },
};
const bounded = { cpu: /./, memory: /i$/, "ephemeral-storage": /i$/ };
const boundedResources = { requests: bounded, limits: bounded };

const tools = findHelmTools();
if ("missing" in tools) t.plan(0, tools.missing);
else await testRights(tools);

async function testRights(tools: HelmTools): Promise<void> {
  const rendered = new Map<string, readonly ChartDocument[]>();
  for (const values of valueSets) {
    const args = writeNetworkFiles(t, { traceNode: values === "everything" });
    rendered.set(values, (await mustRender(t, { tools, values, args })).documents);
  }
  const documentsOf = (values: (typeof valueSets)[number]) => rendered.get(values) ?? [];

  for (const values of valueSets) {
    const documents = documentsOf(values);
    const workloads = workloadsOf(documents);

    await t.test(`no pod of ${values}.yaml has rights or bounds that it does not need`, async (t) => {
      t.ok(workloads.length >= 2);
      for (const { metadata, spec } of workloads) {
        const { name } = metadata;
        const pod = spec.template.spec;
        t.match(pod, podRights, name);
        t.match(pod["serviceAccountName"], name, `${name} has an account of its own`);
        for (const key of ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"])
          t.notOk(key in pod, key);
        const account = documents.find((one) => one.kind === "ServiceAccount" && one.metadata.name === name);
        t.equal(account?.["automountServiceAccountToken"], false, name);
        for (const container of [...pod.containers, ...pod.initContainers]) {
          t.match(container, containerRights, name);
          t.match(container.resources, boundedResources, name);
          t.notMatch(container.image, /(:latest|:)$/, name);
          for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
            t.ok(container[probe] !== undefined, `${name} ${probe}`);
        }
        for (const volume of pod.volumes) t.notOk("hostPath" in volume, `${name} ${volume.name}`);
        const empty = pod.volumes.filter((volume) => "emptyDir" in volume);
        for (const volume of empty) t.match(volume, { emptyDir: { sizeLimit: /Mi$/ } }, name);
      }
      const kinds = documents.map(({ kind }) => kind);
      t.notOk(
        kinds.some((kind) => /Role/.test(kind)),
        "nobody has a right in the cluster",
      );
      t.notOk(kinds.includes("Secret"), "no secret is in the chart's values");
    });

    await t.test(`each Service of ${values}.yaml leads to a port of a pod`, async (t) => {
      const services = documents.filter(({ kind }) => kind === "Service");
      t.ok(services.length > 6);
      for (const service of services) {
        const { selector } = selectorOf.parse(service).spec;
        const pod = workloads.find((workload) => leadsTo(selector, workload));
        t.ok(pod !== undefined, `${service.metadata.name} selects pods`);
        const names = pod?.spec.template.spec.containers.flatMap(({ ports }) =>
          ports.map(({ name }) => name),
        );
        for (const { targetPort } of serviceSchema.parse(service).spec.ports)
          t.ok(names?.includes(targetPort), `${service.metadata.name} ${targetPort}`);
      }
    });

    await t.test(`what may be down of ${values}.yaml leaves a quorum of validators`, async (t) => {
      const validators = workloads.find(({ metadata }) => metadata.name === "tollgate-validator");
      const count = validators?.spec.replicas ?? 0;
      const budgets = documents.filter(({ kind }) => kind === "PodDisruptionBudget");
      const budget = budgets.find(({ metadata }) => metadata.name === "tollgate-validator");
      t.equal(count, 5);
      t.ok(count - budgetSchema.parse(budget).spec.maxUnavailable >= quorumOf(count));
      for (const one of budgets) {
        const { matchLabels } = budgetSchema.parse(one).spec.selector;
        t.ok(
          workloads.some((workload) => leadsTo(matchLabels, workload)),
          one.metadata.name,
        );
      }
      t.match(validators?.spec, {
        updateStrategy: { type: "RollingUpdate" },
        podManagementPolicy: "Parallel",
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        ordinals: { start: 1 },
      });
    });
  }

  await t.test("a pod has the secrets that it needs, and a validator its own key alone", async (t) => {
    const workloads = workloadsOf(documentsOf("production"));
    t.same(workloads.map(({ metadata }) => metadata.name).sort(), Object.keys(secretsOf).sort());
    for (const { metadata, spec } of workloads) {
      const volumes = spec.template.spec.volumes.map((volume) => secretVolume.parse(volume));
      const secrets = volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret]));
      t.same(secrets.map(({ secretName }) => secretName).sort(), secretsOf[metadata.name], metadata.name);
      for (const { defaultMode, items } of secrets) {
        t.equal(defaultMode, 0o400);
        t.ok(items.length > 0, "no key of a Secret comes unasked");
      }
    }
    const validator = workloads.find(({ metadata }) => metadata.name === "tollgate-validator");
    const pod = validator?.spec.template.spec;
    const keys = pod?.volumes.find(({ name }) => name === "keys");
    const items = [1, 2, 3, 4, 5].map((n) => ({ key: `validator-${n}`, path: `tollgate-validator-${n}` }));
    t.match(keys, { secret: { items } });
    const mounts = pod?.containers[0]?.volumeMounts.filter(({ name }) => name === "keys");
    t.match(mounts, [{ mountPath: "/etc/besu/key", subPathExpr: "$(POD_NAME)", readOnly: true }]);
    t.equal(mounts?.length, 1);
  });

  await t.test("a stall ends no validator, and a young one has time to open its database", async (t) => {
    const validator = workloadsOf(documentsOf("production")).find(({ kind }) => kind === "StatefulSet");
    t.match(validator?.spec.template.spec.containers[0], {
      readinessProbe: { exec: { command: ["bash", "/opt/probes/height-moves.sh"] } },
      livenessProbe: { tcpSocket: { port: "rpc" } },
      startupProbe: { periodSeconds: 5, failureThreshold: 180 },
    });
  });

  await t.test("a pod of the gateway has time to drain before it is killed", async (t) => {
    const gateway = workloadsOf(documentsOf("production")).find(
      ({ metadata }) => metadata.name === "tollgate-gateway",
    );
    const pod = gateway?.spec.template.spec;
    const drainMs = Number(pod?.containers[0]?.env.find(({ name }) => name === "DRAIN_DELAY_MS")?.value);
    const config = readYaml("config/gateway.yaml");
    const { stopTimeoutMs } = z.object({ stopTimeoutMs: z.int() }).parse(config);
    t.equal(drainMs, 10_000);
    t.ok((pod?.terminationGracePeriodSeconds ?? 0) * 1000 >= drainMs + stopTimeoutMs + 5000);
  });

  await t.test("what pods scale by is made by the adapter, of metrics that there are", async (t) => {
    const scalers = documentsOf("production").filter(({ kind }) => kind === "HorizontalPodAutoscaler");
    const wanted = scalers.flatMap((scaler) =>
      scalerSchema
        .parse(scaler)
        .spec.metrics.flatMap(({ pods }) => (pods === undefined ? [] : [pods.metric.name])),
    );
    const { custom } = adapterSchema.parse(readYaml("docker/helm/prometheus-adapter.yaml")).rules;
    t.same(custom.map(({ name }) => name.as).sort(), wanted.toSorted());
    const known = [gatewayRegistry(), apiRegistry()].flatMap((registry) =>
      registry.getMetricsAsArray().map(({ name }) => name),
    );
    for (const { seriesQuery, metricsQuery } of custom) {
      const [name = ""] = /^\w+/.exec(seriesQuery) ?? [];
      t.ok(known.includes(name), name);
      t.ok(metricsQuery.includes(`rate(${name}{`), metricsQuery);
    }
  });
}

/** Whether labels select a workload's pods; the label of a StatefulSet's single pod counts by its name. */
function leadsTo(selector: Readonly<Record<string, string>>, { metadata, spec }: Workload): boolean {
  const { labels } = spec.template.metadata;
  return Object.entries(selector).every(([label, value]) =>
    label === "statefulset.kubernetes.io/pod-name"
      ? value.startsWith(`${metadata.name}-`)
      : labels[label] === value,
  );
}
