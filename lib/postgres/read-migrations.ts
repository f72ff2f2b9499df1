import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

export type Migration = { number: number; name: string; sql: string; sha256: string };

/**
 * The migrations of a folder: `0001-what-it-does.sql`, numbered from 1 without gaps, each carried out in one transaction.
 *
 * @throws Error where a name does not fit, a number is there twice or missing.
 */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).toSorted();
  const migrations = await Promise.all(files.map((file) => readMigration({ folder, file })));
  for (const [index, { number, name }] of migrations.entries()) {
    if (number !== index + 1) {
      throw new Error(`migration ${name} stands where number ${index + 1} was expected (${folder.pathname})`);
    }
  }
  return migrations;
}

async function readMigration({ folder, file }: { folder: URL; file: string }): Promise<Migration> {
  const number = /^(\d{4})-[a-z0-9-]+\.sql$/.exec(file)?.[1];
  if (number === undefined) {
    throw new Error(`a migration is named 0001-what-it-does.sql, not ${file} (${folder.pathname})`);
  }
  const inFolder = new URL(folder.href.endsWith("/") ? file : `${folder.href}/${file}`, folder);
  // A checkout may have changed the line ends; that changes no schema.
  const sql = (await readFile(inFolder, "utf8")).replaceAll("\r\n", "\n");
  return {
    number: Number(number),
    name: file.slice(0, -".sql".length),
    sql,
    sha256: createHash("sha256").update(sql).digest("hex"),
  };
}
