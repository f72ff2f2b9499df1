import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Programs, by their paths, and `openapi`, the folder of what they judge by. */
export type HelmTools = { helm: string; kubeconform: string; kubeScore: string; openapi: string };

/** What test/docker/helm/prepare.sh has put there; undefined, with the reason, where it has not run. In CI it has to have. */
export function findHelmTools(): HelmTools | { missing: string } {
  const folder = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tollgate", "helm-tools-1");
  if (!existsSync(join(folder, "complete"))) {
    const missing = "helm is not there: sh test/docker/helm/prepare.sh (needs Go, or Python)";
    if (process.env["CI"] === "true") throw new Error(missing);
    return { missing };
  }
  const program = (name: string) => join(folder, "bin", name);
  return {
    helm: program("helm"),
    kubeconform: program("kubeconform"),
    kubeScore: program("kube-score"),
    openapi: join(folder, "openapi"),
  };
}
