import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";
import { runToEnd } from "./run-to-end.ts";

/** PostgreSQL's own programs of one version. */
export type PostgresTools = { version: number; program: (name: string) => string };

/** Where Debian puts each version's. */
const debianFolder = "/usr/lib/postgresql";

/**
 * PostgreSQL's own programs, of the server's version: an older pg_basebackup does not speak to a newer server, and a newer server does
 * not read an older one's files. `folder` (POSTGRES_TOOLS), else Debian's folder of that version, else those in PATH.
 *
 * @throws CommandError that says what to install.
 */
export async function findPostgresTools({
  version,
  folder,
  path,
  debian = debianFolder,
}: {
  /** The server's, such as 18. */
  version: number;
  folder: string;
  path: string | undefined;
  debian?: string;
}): Promise<PostgresTools> {
  const places =
    folder === ""
      ? [join(debian, String(version), "bin"), ...(path ?? "").split(":").filter(Boolean)]
      : [folder];
  const found: string[] = [];
  for (const place of places) {
    const theirs = await versionOf(join(place, "pg_basebackup"));
    if (theirs === version) return { version, program: (name) => join(place, name) };
    if (theirs !== undefined) found.push(`${place} has those of ${theirs}`);
  }
  const others = (await readdir(debian).catch(() => [])).map((name) => `${debian}/${name}/bin`);
  const seen = [...new Set([...found, ...others.map((place) => `there is ${place}`)])];
  throw new CommandError(
    [
      `The programs of PostgreSQL ${version} are missing, which is the server's version${seen.length === 0 ? "" : ` (${seen.join("; ")})`}.`,
      `Debian's package is postgresql-${version}; elsewhere say where they are: POSTGRES_TOOLS=/folder/with/pg_basebackup`,
    ].join("\n"),
    { exitCode: 1 },
  );
}

async function versionOf(program: string): Promise<number | undefined> {
  if (!(await isThere(program))) return undefined;
  const { code, out } = await runToEnd({ program, args: ["--version"], env: {} });
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(out) ?? [];
  return code === 0 && major !== undefined ? Number(major) : undefined;
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
