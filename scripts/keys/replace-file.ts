import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { CommandError } from "../../lib/cli/command.ts";

/**
 * Writes a file that only its owner can read; a crash leaves the old one or the new one, on disk.
 * @throws CommandError that begins with `what`, such as "The backup".
 */
export async function replaceFile({
  file,
  text,
  what,
}: {
  file: string;
  text: string;
  what: string;
}): Promise<void> {
  const next = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(next, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${what} cannot be written: ${why}`, { exitCode: 1 });
  }
}
