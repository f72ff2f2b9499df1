import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runDocker } from "../../scripts/network/docker/run-docker.ts";
import { findPostgres } from "../../scripts/processes/find-postgres.ts";
import { findProgram } from "../../scripts/processes/find-program.ts";
import { withFileLock } from "./file-lock.ts";
import type { DockerEnvironment, Prepared } from "./start-docker.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const standIns = join(root, "test", "docker", "stand-ins");
const image = (name: string) => `tollgate-test/${name}`;
const inputsLabel = "tollgate.inputs";
const postgresEntry = "postgres-entrypoint.sh";

/** The variables of docker/compose.yaml that name images. */
export const imageVariables = {
  BESU_IMAGE: image("besu"),
  TOLLGATE_IMAGE: image("tollgate"),
  BASE_IMAGE: image("base"),
  NODE_IMAGE: image("node"),
  REDIS_IMAGE: image("redis"),
  POSTGRES_IMAGE: image("postgres"),
  PROMETHEUS_IMAGE: image("prometheus"),
  NODE_EXPORTER_IMAGE: image("node-exporter"),
  GRAFANA_IMAGE: image("grafana"),
} as const;

/**
 * Ours by docker/Dockerfile as it is, and the stand-ins for images of a registry (stand-ins/README.md). Nothing is fetched: the stand-in for
 * Node's image has npm's packages with it.
 */
export function buildImages({
  env,
  prepared,
}: {
  env: DockerEnvironment;
  prepared: Prepared;
}): Promise<void> {
  return withImages(prepared, () => build({ env: { ...env, DOCKER_BUILDKIT: "0" }, prepared }));
}

/** While images are built nobody else builds, or removes what another build has begun. */
export function withImages<Value>({ dockerFolder }: Prepared, work: () => Promise<Value>): Promise<Value> {
  return withFileLock(`${dockerFolder}.lock`, work);
}

async function build({ env, prepared }: { env: DockerEnvironment; prepared: Prepared }): Promise<void> {
  const docker = async (...args: string[]) => {
    const outcome = await runDocker({ args, env });
    if (!outcome.ok) throw new Error(`docker ${args.join(" ")}: ${outcome.why}`);
  };
  const make = (name: string, context: string, file: string, ...args: string[]) =>
    docker("build", "--network", "none", "--tag", image(name), "--file", file, ...args, context);
  const labelOf = async (name: string) => {
    const args = ["image", "inspect", "--format", `{{index .Config.Labels "${inputsLabel}"}}`, image(name)];
    const found = await runDocker({ args, env });
    return found.ok ? (found.out[0] ?? "") : undefined;
  };
  const folder = await mkdtemp(join(tmpdir(), "tollgate-images-"));

  async function makeOurs(): Promise<void> {
    // Its packages are 300 MB: they are sent to the daemon only where they have changed.
    const inputs = await nodeInputs(prepared);
    if ((await labelOf("node")) !== inputs) {
      await mkdir(join(folder, "node"));
      await fillNode({ folder: join(folder, "node"), packages: prepared.packages });
      const registry = `REGISTRY=${await npm("config", "get", "registry")}`;
      const args = ["--build-arg", registry, "--label", `${inputsLabel}=${inputs}`];
      await make("node", join(folder, "node"), join(standIns, "node.Dockerfile"), ...args);
    }
    const bases = [`BASE_IMAGE=${image("base")}`, `NODE_IMAGE=${image("node")}`];
    const args = bases.flatMap((text) => ["--build-arg", text]);
    await make("tollgate", root, join(root, "docker", "Dockerfile"), ...args);
    await Promise.all([
      fillBesu(join(folder, "besu")).then(() =>
        make("besu", join(folder, "besu"), join(standIns, "besu.Dockerfile")),
      ),
      make("grafana", standIns, join(standIns, "grafana.Dockerfile")),
    ]);
  }

  async function makePostgres(): Promise<void> {
    const programs = await findPostgres();
    if ("missing" in programs) throw new Error(programs.missing);
    const native = join(dirname(programs.postgres), "..");
    // 60 MB, as above.
    const inputs = await postgresInputs({ base: prepared.base, native });
    if ((await labelOf("postgres")) === inputs) return;
    await cp(native, join(folder, "postgres", "native"), { recursive: true, verbatimSymlinks: true });
    await cp(join(standIns, postgresEntry), join(folder, "postgres", postgresEntry));
    const args = ["--label", `${inputsLabel}=${inputs}`];
    await make("postgres", join(folder, "postgres"), join(standIns, "postgres.Dockerfile"), ...args);
  }

  try {
    // prepare.sh gives it another name where it has put something else into it.
    const base = basename(prepared.base);
    if ((await labelOf("base")) !== base) {
      await docker("import", "--change", `LABEL ${inputsLabel}=${base}`, prepared.base, image("base"));
    }
    const others = ["redis", "prometheus", "node-exporter"];
    await Promise.all([
      makeOurs(),
      makePostgres(),
      ...others.map((name) => make(name, standIns, join(standIns, `${name}.Dockerfile`))),
    ]);
    await docker("image", "prune", "--force");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the stand-in for Node's image is made of, in a word. */
async function nodeInputs({ base, packages }: Prepared): Promise<string> {
  const file = await readFile(join(standIns, "node.Dockerfile"), "utf8");
  const parts = [process.version, await npm("--version"), basename(base), basename(packages), file];
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** PostgreSQL itself, of the published image's version, is what npm start runs. */
async function postgresInputs({ base, native }: { base: string; native: string }): Promise<string> {
  const files = [
    join(native, "..", "package.json"),
    join(standIns, "postgres.Dockerfile"),
    join(standIns, postgresEntry),
  ];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return createHash("sha256")
    .update([basename(base), ...texts].join("\n"))
    .digest("hex");
}

async function npm(...args: string[]): Promise<string> {
  return (await promisify(execFile)("npm", args)).stdout.trim();
}

/**
 * The folder of the npm that a PATH leads to. `npm root --global` does not know it where another Node.js stands first on PATH, as the
 * project's does in its own scripts: it then names that one's folder, which has no npm.
 */
export async function findNpm(path: string | undefined): Promise<string> {
  const program = await findProgram({ names: ["npm"], path });
  if (program === undefined) throw new Error("npm is not on PATH: install it, or put its folder on PATH");
  // npm/bin/npm-cli.js, to which the program is a link.
  return join(dirname(await realpath(program)), "..");
}

/** This machine's npm and the project's node. */
async function fillNode({ folder, packages }: { folder: string; packages: string }): Promise<void> {
  const node = await findProgram({ names: ["node"], path: join(root, "node_modules", ".bin") });
  if (node === undefined) throw new Error("the packages are not installed: npm install");
  const options = { recursive: true, dereference: true };
  await cp(node, join(folder, "node"), options);
  await cp(await findNpm(process.env["PATH"]), join(folder, "npm"), options);
  await cp(packages, join(folder, "packages"), { recursive: true });
}

async function fillBesu(folder: string): Promise<void> {
  const files = [
    "test/fakes/besu-stand-in",
    "test/vectors/besu-options.json",
    "test/vectors/besu-26.8.0-methods.txt",
  ];
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(root, file), join(folder, file), { recursive: true });
  }
  await cp(join(root, "node_modules", "ws"), join(folder, "ws"), { recursive: true });
  for (const name of ["besu", "besu-entry.sh"]) await cp(join(standIns, name), join(folder, name));
}
