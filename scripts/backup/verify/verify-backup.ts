import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readManifest } from "../../../genesis/manifest.ts";
import { checkKeys } from "../../network/native/check-keys.ts";
import type { FoundBackup } from "../archive/backup-folder.ts";
import type { ReaderKeys } from "../archive/key-files.ts";
import type { BackupPart } from "../archive/manifest.ts";
import { countFiles } from "../parts/network-keys.ts";
import { restorePart } from "../restore-part.ts";
import { tryPostgres } from "./try-postgres.ts";
import { tryRedis } from "./try-redis.ts";

/** What was found of a part. `problem`: why it cannot be relied on. */
export type VerifiedPart = { name: BackupPart["name"]; found: string; problem: string | undefined };

/**
 * Restores each part into an empty folder of its own, starts a server on it, and compares what it holds with what was written down when it was
 * taken. Nothing but temporary files is touched.
 */
export async function verifyBackup({
  backup,
  keys,
  tools,
  env,
  now,
  note,
}: {
  backup: FoundBackup;
  keys: ReaderKeys;
  /** The folder of PostgreSQL's programs, or empty. */
  tools: string;
  env: Readonly<Record<string, string | undefined>>;
  now: () => number;
  note: (text: string) => void;
}): Promise<readonly VerifiedPart[]> {
  const verified: VerifiedPart[] = [];
  for (const part of backup.manifest.parts) {
    const beganMs = now();
    const scratch = await mkdtemp(join(tmpdir(), "tollgate-verify-"));
    const folder = join(scratch, "restored");
    try {
      await restorePart({ backup, part, folder, until: "backup", keys, now });
      verified.push({ name: part.name, ...(await tryPart({ part, folder, scratch, tools, env })) });
    } catch (error) {
      verified.push({
        name: part.name,
        found: "",
        problem: error instanceof Error ? error.message : String(error),
      });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    note(`${part.name}: ${((now() - beganMs) / 1000).toFixed(1)} s`);
  }
  return verified;
}

type Tried = Omit<VerifiedPart, "name">;

async function tryPart({
  part,
  folder,
  scratch,
  tools,
  env,
}: {
  part: BackupPart;
  folder: string;
  scratch: string;
  tools: string;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<Tried> {
  switch (part.name) {
    case "redis":
    case "redis-faucet":
      return await tryRedis({ facts: part.facts, folder, env, isMarked: part.name === "redis" });
    case "postgres":
      return await tryPostgres({ facts: part.facts, folder, scratch, tools, env });
    case "keys":
      return await tryKeys({ facts: part.facts, folder });
    case "validator":
      return await tryValidator({ facts: part.facts, folder });
  }
}

/** Each validator's key has to be that of its address: with another one it could not seal. */
async function tryKeys({ facts, folder }: { facts: { files: number }; folder: string }): Promise<Tried> {
  const read = readManifest(folder);
  if ("problem" in read) return { found: "", problem: read.problem };
  const problems = await checkKeys({ folder, validators: read.manifest.validators });
  const files = await countFiles(folder);
  if (files !== facts.files) problems.push(`it holds ${files} files instead of ${facts.files}`);
  const found = `${files} files, the keys of ${read.manifest.validators.length} validators`;
  return { found, problem: problems.length === 0 ? undefined : problems.join("; ") };
}

/** No Besu is here to open it: each byte is what was packed, and there is something. */
async function tryValidator({
  facts: { validator, height },
  folder,
}: {
  facts: { validator: string; height: number };
  folder: string;
}): Promise<Tried> {
  const files = await countFiles(folder);
  return {
    found: `${files} files of ${validator}, at block ${height}`,
    problem: files === 0 ? "it holds no file" : undefined,
  };
}
