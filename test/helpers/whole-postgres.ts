import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { PostgresPrograms } from "../../scripts/processes/find-postgres.ts";

const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
/** What `.ci/run` makes (scripts/processes/install-postgres.sh), then Debian's. */
const places = [join(cache, "tollgate/postgres-18/lib/postgresql"), "/usr/lib/postgresql"];
const needed = ["initdb", "postgres", "pg_basebackup", "pg_verifybackup"];

/** `tools`: the folder of all its programs. */
export type WholePostgres = PostgresPrograms & { tools: string };

/** A PostgreSQL with its own pg_basebackup, which npm's package has not: the newest that is here. */
export async function findWholePostgres(): Promise<WholePostgres | undefined> {
  const found: WholePostgres[] = [];
  for (const place of places) {
    for (const name of await readdir(place).catch(() => [])) {
      const tools = join(place, name, "bin");
      const programs = new Set<string>(await readdir(tools).catch(() => []));
      const [initdb, postgres] = [join(tools, "initdb"), join(tools, "postgres")];
      if (needed.every((program) => programs.has(program)))
        found.push({ version: Number(name), tools, initdb, postgres });
    }
  }
  return found.sort((a, b) => b.version - a.version)[0];
}

export const howToGetPostgres =
  "sh scripts/processes/install-postgres.sh ~/.cache/tollgate/postgres-18 makes it";
