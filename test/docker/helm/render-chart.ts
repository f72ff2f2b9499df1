import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { readNetworkConfig } from "../../../genesis/config.ts";
import { planNetwork } from "../../../genesis/network-files.ts";
import { createNodeKey } from "../../../genesis/node-key.ts";
import { runCommand } from "../../helpers/run-command.ts";
import type { HelmTools } from "./helm-tools.ts";

export const repositoryPath = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
export const chartFolder = repositoryPath("docker/helm/tollgate");
/** A set of values by its name, or any file. */
export const valuesFile = (name: string) =>
  isAbsolute(name) ? name : repositoryPath(`test/docker/helm/values/${name}.yaml`);
/** Every set of values that is tried as a whole. */
export const valueSets = ["minimal", "production", "everything"] as const;

const labels = z.record(z.string(), z.string());
const metadata = z.looseObject({ name: z.string(), labels: labels.default({}) });
const envSchema = z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]);
const probe = z.looseObject({}).optional();
export const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).default([]),
  env: envSchema,
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
  volumeMounts: z.array(
    z.looseObject({ name: z.string(), mountPath: z.string(), subPathExpr: z.string().optional() }),
  ),
  resources: z.object({ requests: labels, limits: labels }),
  readinessProbe: probe,
  livenessProbe: probe,
  startupProbe: probe,
});
export const workloadSchema = z.looseObject({
  kind: z.enum(["Deployment", "StatefulSet"]),
  metadata,
  spec: z.looseObject({
    replicas: z.int().optional(),
    template: z.object({
      metadata: z.looseObject({ labels }),
      spec: z.looseObject({
        initContainers: z.array(containerSchema).default([]),
        containers: z.array(containerSchema),
        volumes: z.array(z.looseObject({ name: z.string() })),
        terminationGracePeriodSeconds: z.int(),
      }),
    }),
  }),
});
const documentSchema = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata });
export type ChartDocument = z.output<typeof documentSchema>;
export type Workload = z.output<typeof workloadSchema>;

/** The files of a network with the same keys at every run, as `npm run genesis -- init` writes them; answers the arguments of helm. */
export function writeNetworkFiles(t: Test, { traceNode = false }: { traceNode?: boolean } = {}): string[] {
  const folder = temporaryFolder(t);
  const config = readNetworkConfig({
    file: repositoryPath("config/network.yaml"),
    env: {},
    overrides: { profile: "production", traceNode: { enabled: traceNode, javaMemoryMb: 2048 } },
  });
  let made = 0;
  const createKey = () => {
    made += 1;
    return createNodeKey(`0x${made.toString(16).padStart(64, "0")}`);
  };
  for (const { path, content } of planNetwork({ config, createKey }).files) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const sources = {
    manifest: "network.json",
    genesis: "genesis.json",
    besuConfig: "validator-1/config.toml",
    operatorPublicKey: "operator.pub.pem",
    ...(traceNode ? { traceNodeConfig: "trace-node/config.toml" } : {}),
  };
  return Object.entries(sources).flatMap(([key, file]) => [
    "--set-file",
    `network.${key}=${join(folder, file)}`,
  ]);
}

/** `helm template` with a file of values and more arguments: what it makes, or what it says against them. */
export async function renderChart(
  t: Test,
  { tools, values, args = [] }: { tools: HelmTools; values: string; args?: readonly string[] },
): Promise<{ documents: readonly ChartDocument[]; text: string } | { refused: string }> {
  const output = temporaryFolder(t);
  const { code, lines } = await runCommand(t, {
    program: tools.helm,
    args: [
      ...["template", "tollgate", chartFolder, "--namespace", "tollgate", "--values", valuesFile(values)],
      ...["--output-dir", output, ...args],
    ],
  });
  const said = lines.filter((line) => !line.startsWith("level=INFO"));
  if (code !== 0) return { refused: said.join("\n") };
  const files = said.flatMap((line) => (line.startsWith("wrote ") ? [line.slice("wrote ".length)] : []));
  const text = [...new Set(files)].map((file) => readFileSync(file, "utf8")).join("\n---\n");
  const documents = parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((document) => document !== null);
  return { documents: z.array(documentSchema).parse(documents), text };
}

export async function mustRender(
  t: Test,
  options: Parameters<typeof renderChart>[1],
): Promise<{ documents: readonly ChartDocument[]; text: string }> {
  const rendered = await renderChart(t, options);
  if ("refused" in rendered) throw new Error(rendered.refused);
  return rendered;
}

export function workloadsOf(documents: readonly ChartDocument[]): Workload[] {
  return documents
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .map((document) => workloadSchema.parse(document));
}

/** The data of a ConfigMap, by its name behind the release's. */
export function configMap(documents: readonly ChartDocument[], name: string): Record<string, string> {
  const found = documents.find(
    ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === `tollgate-${name}`,
  );
  return z.object({ data: labels }).parse(found).data;
}

export function readYaml(name: string): unknown {
  return parse(readFileSync(repositoryPath(name), "utf8"), { merge: true, maxAliasCount: -1 });
}

/** A folder that the test leaves none of; one test may have several. */
export function temporaryFolder(t: Pick<Test, "teardown">): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-chart-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
