import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../../lib/cli/command.ts";
import type { BaseBackups } from "./postgres.ts";
import { packFolder, unpackFolder } from "./tar.ts";

const pollMs = 200;

/**
 * Base backups by a container of PostgreSQL's own image, which has its programs (docker/postgres/base-backups.sh): a file `request.ID` in a folder
 * that both see asks for one; `done.ID` says that `copy.ID` is whole, `failed.ID` says why there is none. Each request has an id of its
 * own, since somebody may take a backup by hand while the service takes one.
 */
export function requestedBaseBackups({
  folder,
  timeoutMs,
}: {
  folder: string;
  timeoutMs: number;
}): BaseBackups {
  return async (target) => {
    const id = randomUUID();
    const file = (name: string) => join(folder, `${name}.${id}`);
    // Whoever of the two starts first.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await writeFile(file("request"), "", { flush: true });
      await waitForCopy({ file, timeoutMs });
      // Out of the other volume, so that nothing there changes what is being encrypted.
      await mkdir(target, { mode: 0o700 });
      await unpackFolder(packFolder(file("copy")), target);
    } finally {
      const names = ["request", "done", "failed", "copy"];
      await Promise.all(names.map((name) => rm(file(name), { recursive: true, force: true })));
    }
  };
}

async function waitForCopy({
  file,
  timeoutMs,
}: {
  file: (name: string) => string;
  timeoutMs: number;
}): Promise<void> {
  const giveUpAt = Date.now() + timeoutMs;
  while (!(await isThere(file("done")))) {
    const why = await readFile(file("failed"), "utf8").catch(() => undefined);
    if (why !== undefined)
      throw new CommandError(`PostgreSQL's copy was not taken: ${why.trim()}`, { exitCode: 1 });
    if (Date.now() > giveUpAt) {
      throw new CommandError(
        `PostgreSQL's copy was not taken within ${timeoutMs / 1000} s: does the service postgres-backup run?`,
        { exitCode: 1 },
      );
    }
    await sleep(pollMs);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
