import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { isForPlatforms, type Lock, nameAt, readLock, resolvePlace } from "../lock/lock-file.ts";

const run = promisify(execFile);
const mainFile = "gateway/wallet-proxy/main.ts";
/** What it reads beside what it imports. */
const assets = ["gateway/wallet-proxy/page", "lib/web/assets"];
const name = "tollgate-wallet-proxy";

const manifestSchema = z.object({
  version: z.string(),
  license: z.string(),
  dependencies: z.record(z.string(), z.string()),
});

/**
 * Packs the wallet proxy alone: compiled, since Node.js strips no types under `node_modules`, with the packages that it
 * imports, in the versions of package-lock.json, so that an install asks for nothing else. Two packs of one commit are the
 * same to the byte.
 *
 * @returns the archive's file.
 * @throws where a package has a part for single platforms: the proxy runs on any.
 */
export async function packWalletProxy({ root, out }: { root: string; out: string }): Promise<string> {
  const staging = mkdtempSync(join(tmpdir(), "tollgate-wallet-proxy-"));
  try {
    const files = await compile({ root, staging });
    for (const asset of assets) copyAssets(join(root, asset), join(staging, asset));
    const {
      version,
      license,
      dependencies: all,
    } = manifestSchema.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
    const names = packagesOf(files.map((file) => readFileSync(join(staging, file), "utf8")));
    const dependencies = Object.fromEntries(names.map((each) => [each, versionOf(all, each)]));
    for (const place of placesOf(readLock(join(root, "package-lock.json")), names))
      copyPackage(join(root, place), join(staging, place));
    const manifest = {
      name,
      version,
      description: "Lets browser wallets use a Tollgate gateway: listens on 127.0.0.1 and adds your API key",
      license,
      type: "module",
      engines: { node: ">=20" },
      bin: { [name]: "gateway/wallet-proxy/main.js" },
      dependencies,
      bundleDependencies: names,
    };
    writeFileSync(join(staging, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    cpSync(join(root, "scripts/release/wallet-proxy/README.md"), join(staging, "README.md"));
    mkdirSync(out, { recursive: true });
    const args = ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", out];
    const { stdout } = await run("npm", args, { cwd: staging });
    const [packed] = z.array(z.object({ filename: z.string() })).parse(JSON.parse(stdout));
    return join(out, packed?.filename ?? `${name}-${version}.tgz`);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** @returns the files that were written, as paths in the staging folder. */
async function compile({ root, staging }: { root: string; staging: string }): Promise<string[]> {
  const config = join(staging, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    incremental: false,
    tsBuildInfoFile: null,
    rewriteRelativeImportExtensions: true,
    // Older than the repository's, for Node.js 20.
    target: "es2022",
    listEmittedFiles: true,
    rootDir: root,
    outDir: staging,
    typeRoots: [join(root, "node_modules/@types")],
  };
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions,
    files: [join(root, mainFile)],
    include: [],
  };
  writeFileSync(config, JSON.stringify(settings));
  const { stdout } = await run(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    config,
  ]);
  rmSync(config);
  const files = [...stdout.matchAll(/^TSFILE: (.*)$/gm)].map(([, file = ""]) => relative(staging, file));
  const main = join(staging, mainFile.replace(/\.ts$/, ".js"));
  writeFileSync(main, `#!/usr/bin/env node\n${readFileSync(main, "utf8")}`, { mode: 0o755 });
  return files;
}

/** Names of the packages that compiled files import. */
function packagesOf(texts: readonly string[]): string[] {
  const specifiers = texts.flatMap((text) =>
    [...text.matchAll(/^(?:import|export)\b(?:[\s\w$*{},]*?\bfrom)?\s*["']([^"'\n]+)["']/gm)].map(
      ([, specifier = ""]) => specifier,
    ),
  );
  const names = specifiers
    .filter((specifier) => !specifier.startsWith(".") && !specifier.startsWith("node:"))
    .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].toSorted();
}

function versionOf(dependencies: Readonly<Record<string, string>>, name: string): string {
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is imported, and no dependency of package.json`);
  return version;
}

/** Where these packages and all that they need lie. */
function placesOf(lock: Lock, names: readonly string[]): string[] {
  const places = new Set<string>();
  const add = (from: string, wanted: readonly string[]) => {
    for (const each of wanted) {
      const place = resolvePlace(lock, from, each);
      const locked = place === undefined ? undefined : lock.packages[place];
      if (place === undefined || locked === undefined) throw new Error(`package-lock.json has no ${each}`);
      if (places.has(place)) continue;
      if (isForPlatforms(locked)) throw new Error(`${nameAt(place)} is for single platforms`);
      places.add(place);
      add(place, Object.keys(locked.dependencies ?? {}));
    }
  };
  add("", names);
  return [...places];
}

/** What browsers get; the texts are compiled. */
function copyAssets(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (file) => !/\.ts$|tsconfig\.json$/.test(file),
  });
}

const unneededFolders = new Set([
  "test",
  "tests",
  "benchmark",
  "benchmarks",
  "docs",
  "example",
  "examples",
  ".github",
]);
const unneededFiles = /\.(?:d\.[cm]?ts|ts|map|md|markdown|yml|yaml|tgz)$/i;

/** A package without what only its developers use; its licence stays with it, and packages inside of it have a place of their own. */
function copyPackage(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter(file) {
      if (file === from) return true;
      if (basename(file) === "node_modules") return false;
      if (dirname(file) === from && unneededFolders.has(basename(file))) return false;
      if (file.endsWith(".node")) throw new Error(`${relative(dirname(from), file)} is native code`);
      return /^(?:licen[cs]e|notice|copying)/i.test(basename(file)) || !unneededFiles.test(file);
    },
  });
}
