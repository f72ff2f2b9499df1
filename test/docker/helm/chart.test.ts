import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { stringify } from "yaml";
import { z } from "zod";
import { runCommand } from "../../helpers/run-command.ts";
import { findHelmTools, type HelmTools } from "./helm-tools.ts";
import { schemaLocation, writeSchemas } from "./kubernetes-schemas.ts";
import {
  type ChartDocument,
  chartFolder,
  mustRender,
  readYaml,
  repositoryPath,
  temporaryFolder,
  valueSets,
  valuesFile,
  writeNetworkFiles,
} from "./render-chart.ts";

/** The oldest Kubernetes that Chart.yaml takes, and a young one. */
const kubernetesFiles = ["kubernetes-1.31.json", "kubernetes-1.36.json"];
/** Tags are never moved, so images need not be pulled again; kube-score does not know the label of a StatefulSet's pod. */
const scoresLeftOut = ["container-image-pull-policy", "service-targets-pod"];

const tools = findHelmTools();
if ("missing" in tools) t.plan(0, tools.missing);
else await testChart(tools);

async function testChart(tools: HelmTools): Promise<void> {
  /** A folder of schemas a version, of the kinds that are rendered. */
  const schemasOf = (documents: readonly ChartDocument[]) =>
    kubernetesFiles.map((kubernetesFile) => {
      const folder = temporaryFolder(t);
      const kinds = new Set(documents.map(({ kind }) => kind));
      writeSchemas({ openapi: tools.openapi, kubernetesFile, kinds, folder });
      return folder;
    });

  for (const values of valueSets) {
    await t.test(`the chart with the values of ${values}.yaml`, async (t) => {
      const args = writeNetworkFiles(t, { traceNode: values === "everything" });
      const { documents, text } = await mustRender(t, { tools, values, args });
      const file = join(temporaryFolder(t), "rendered.yaml");
      writeFileSync(file, text);

      await t.test("passes helm lint --strict", async (t) => {
        const lintArgs = ["lint", "--strict", "--namespace", "tollgate"];
        const lint = {
          program: tools.helm,
          args: [...lintArgs, "-f", valuesFile(values), ...args, chartFolder],
        };
        const { code, lines } = await runCommand(t, lint);
        t.equal(code, 0, lines.join("\n"));
      });

      await t.test("makes what it made before", async (t) => {
        const golden = repositoryPath(`test/docker/helm/golden/${values}.yaml`);
        const made = goldenText(documents);
        if (process.env["UPDATE_SNAPSHOTS"] === "1") {
          mkdirSync(dirname(golden), { recursive: true });
          writeFileSync(golden, made);
        }
        t.equal(made, readFileSync(golden, "utf8"), "UPDATE_SNAPSHOTS=1 writes it anew");
      });

      await t.test("makes objects that Kubernetes knows, key by key", async (t) => {
        for (const folder of schemasOf(documents)) {
          const { code, lines } = await kubeconform(t, { tools, folder, file });
          t.equal(code, 0, lines.join("\n"));
          t.match(lines.at(-1), /Valid: \d+, Invalid: 0, Errors: 0, Skipped: 0/);
        }
      });

      await t.test("passes kube-score", async (t) => {
        const { code, lines } = await runCommand(t, {
          program: tools.kubeScore,
          args: ["score", "--kubernetes-version", "v1.31", "--ignore-test", scoresLeftOut.join(","), file],
        });
        t.equal(code, 0, lines.filter((line) => /^\S|CRITICAL/.test(line)).join("\n"));
      });
    });
  }

  await t.test("what Kubernetes does not know is found", async (t) => {
    const args = writeNetworkFiles(t);
    const { documents, text } = await mustRender(t, { tools, values: "production", args });
    const [folder = ""] = schemasOf(documents);
    const faults: [string, string][] = [
      ["readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"],
      ["maxUnavailable: 1", "maxUnavailable: {}"],
      ["jobLabel: tollgate/job", "jobLable: tollgate/job"],
      ["terminationGracePeriodSeconds: 60", 'terminationGracePeriodSeconds: "60"'],
    ];
    for (const [right, wrong] of faults) {
      t.ok(text.includes(right), right);
      const file = join(temporaryFolder(t), "broken.yaml");
      writeFileSync(file, text.replace(right, wrong));
      t.equal((await kubeconform(t, { tools, folder, file })).code, 1, wrong);
    }
  });

  await t.test("the values of docs/kubernetes.md are taken, with the Secrets that it makes", async (t) => {
    const page = readFileSync(repositoryPath("docs/kubernetes.md"), "utf8");
    const [, values = ""] = /<!-- values -->\n\n```yaml\n(.*?)```/s.exec(page) ?? [];
    const file = join(temporaryFolder(t), "values.yaml");
    writeFileSync(file, values);
    const fees = ["--set-file", `config.fees\\.yaml=${repositoryPath("config/fees.yaml")}`];
    const args = [...writeNetworkFiles(t), ...fees];
    const { documents } = await mustRender(t, { tools, values: file, args });
    t.ok(documents.length > 40);
    const named = new Set([...values.matchAll(/Secret: ([a-z-]+)/g)].map(([, name = ""]) => name));
    t.ok(named.size >= 9);
    const made = [...page.matchAll(/create secret generic ([a-z$-]+)/g)].map(([, name = ""]) => name);
    for (const name of named) {
      if (name === "tollgate-tls") continue;
      const loop = /^tollgate-(faucet|api)-key$/.test(name) && made.includes("tollgate-$name-key");
      t.ok(loop || made.includes(name), name);
    }
    const first = ["faucet.enabled=false", "api.enabled=false", "ingress.faucetHost=", "ingress.apiHost="];
    t.ok(page.includes(`--set ${first.join(",")}`));
    const begun = await mustRender(t, { tools, values: file, args: [...args, "--set", first.join(",")] });
    t.notOk(begun.documents.some(({ metadata }) => /faucet|api/.test(metadata.name)));
  });

  await t.test("its version is the package's", async (t) => {
    const chart = z.object({ version: z.string(), appVersion: z.string() });
    const { version, appVersion } = chart.parse(readYaml("docker/helm/tollgate/Chart.yaml"));
    const { version: ours } = z.object({ version: z.string() }).parse(readYaml("package.json"));
    t.same({ version, appVersion }, { version: ours, appVersion: ours });
  });
}

function kubeconform(
  t: Test,
  { tools, folder, file }: { tools: HelmTools; folder: string; file: string },
): ReturnType<typeof runCommand> {
  return runCommand(t, {
    program: tools.kubeconform,
    args: ["-strict", "-summary", "-schema-location", join(folder, schemaLocation), file],
  });
}

/**
 * The objects, without what has a test or a history of its own: files that are carried whole, alerts, the version. So a change of
 * config/ or of an alert needs no new golden file.
 */
function goldenText(documents: readonly ChartDocument[]): string {
  const named = documents.map((document) => ({
    document,
    key: `${document.kind} ${document.metadata.name}`,
  }));
  const sorted = named.sort((one, other) => (one.key < other.key ? -1 : 1));
  return sorted.map(({ document }) => stringify(withoutFiles(document), { lineWidth: 0 })).join("---\n");
}

function withoutFiles(document: ChartDocument): unknown {
  const text = JSON.stringify(document, (key, value: unknown) => {
    if (key === "data" && document.kind === "ConfigMap")
      return Object.fromEntries(Object.keys(z.looseObject({}).parse(value)).map((name) => [name, "…"]));
    if (key === "groups" && document.kind === "PrometheusRule") return "…";
    if (key === "checksum/config" || key === "helm.sh/chart" || key === "app.kubernetes.io/version")
      return "…";
    if (key === "image" && typeof value === "string") return value.replace(/:\d+\.\d+\.\d+$/, ":…");
    return value;
  });
  return JSON.parse(text);
}
