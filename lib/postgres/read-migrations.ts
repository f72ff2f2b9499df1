import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

import { compareVersions } from "../version.ts";

export type Migration = {
  number: number;
  name: string;
  sql: string;
  sha256: string;
  /** The product's version that brings it. */
  version: string;
  /** The oldest version whose processes work with what it leaves; undefined where its file does not say. */
  lets: string | undefined;
};

/** The version of the first migrations, whose names have none. */
export const firstVersion = "0.1.0";

/**
 * The migrations of a folder, numbered from 1 without gaps, each carried out in one transaction. A name has the version that brings it:
 * `0015-v0.2.0-what-it-does.sql`, and its first line the oldest version that can go on with what it leaves: `-- lets: 0.1.0`. Those of the
 * first version have neither.
 *
 * @throws Error where a name does not fit, a number is there twice or missing, a version is older than the one before, or the first line
 * is missing.
 */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  const migrations = await Promise.all(files.map((file) => readMigration({ folder, file })));
  for (const [index, { number, name, version }] of migrations.entries()) {
    if (number !== index + 1) {
      throw new Error(`migration ${name} stands where number ${index + 1} was expected (${folder.pathname})`);
    }
    if (compareVersions(version, migrations[index - 1]?.version ?? firstVersion) < 0) {
      throw new Error(`migration ${name} is of an older version than the one before it (${folder.pathname})`);
    }
  }
  return migrations;
}

async function readMigration({ folder, file }: { folder: URL; file: string }): Promise<Migration> {
  const [, number, version] = /^(\d{4})-(?:v(\d+\.\d+\.\d+)-)?[a-z0-9-]+\.sql$/.exec(file) ?? [];
  if (number === undefined) {
    throw new Error(`a migration is named 0015-v0.2.0-what-it-does.sql, not ${file} (${folder.pathname})`);
  }
  const inFolder = new URL(folder.href.endsWith("/") ? file : `${folder.href}/${file}`, folder);
  // A checkout may have changed the line ends; that changes no schema.
  const sql = (await readFile(inFolder, "utf8")).replaceAll("\r\n", "\n");
  return {
    number: Number(number),
    name: file.slice(0, -".sql".length),
    sql,
    sha256: createHash("sha256").update(sql).digest("hex"),
    version: version ?? firstVersion,
    lets: version === undefined ? undefined : readLets({ sql, file, version }),
  };
}

function readLets({ sql, file, version }: { sql: string; file: string; version: string }): string {
  const lets = /^-- lets: (\d+\.\d+\.\d+)\n/.exec(sql)?.[1];
  if (lets === undefined || compareVersions(lets, version) > 0) {
    throw new Error(
      `the first line of ${file} says the oldest version that works with what it leaves, ${version} at most: "-- lets: ${version}"`,
    );
  }
  return lets;
}
