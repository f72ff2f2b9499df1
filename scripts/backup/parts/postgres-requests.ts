import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../../lib/cli/command.ts";
import type { BaseBackups } from "./postgres.ts";
import { packFolder, unpackFolder } from "./tar.ts";

const pollMs = 200;

/**
 * Base backups by a container of PostgreSQL's own image, which has its programs (docker/postgres/base-backups.sh): a file `request` in a folder
 * that both see asks for one; `done` says that `copy` is whole, `failed` says why there is none.
 */
export function requestedBaseBackups({
  folder,
  timeoutMs,
}: {
  folder: string;
  timeoutMs: number;
}): BaseBackups {
  const file = (name: string) => join(folder, name);
  return async (target) => {
    await Promise.all(["done", "failed"].map((name) => rm(file(name), { force: true })));
    await writeFile(file("request.new"), "", { flush: true });
    await rename(file("request.new"), file("request"));
    const giveUpAt = Date.now() + timeoutMs;
    for (;;) {
      if (await isThere(file("done"))) break;
      const why = await readFile(file("failed"), "utf8").catch(() => undefined);
      if (why !== undefined)
        throw new CommandError(`PostgreSQL's copy was not taken: ${why.trim()}`, { exitCode: 1 });
      if (Date.now() > giveUpAt) {
        await rm(file("request"), { force: true });
        throw new CommandError(
          `PostgreSQL's copy was not taken within ${timeoutMs / 1000} s: does the service postgres-backup run?`,
          { exitCode: 1 },
        );
      }
      await sleep(pollMs);
    }
    // Out of the other volume, so that a second request cannot change what is being encrypted.
    await mkdir(target, { mode: 0o700 });
    await unpackFolder(packFolder(file("copy")), target);
    await Promise.all(["done", "copy"].map((name) => rm(file(name), { recursive: true, force: true })));
  };
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
