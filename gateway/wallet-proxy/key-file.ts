import { closeSync, fstatSync, openSync, readFileSync, unwatchFile, watchFile } from "node:fs";
import { platform } from "node:os";
import type { Logger } from "pino";
import { checkApiKey } from "../../lib/keys/api-key.ts";

export type KeyFile = {
  /** The key, as the file has it now. */
  apiKey(): string;
  /** Looks at the file no more. */
  stop(): void;
};

/** The key file cannot be used. The message says why and never shows the file's content. */
export class KeyFileError extends Error {}

const fileBytesMax = 4096;
const lookEveryMs = 1000;

/**
 * Reads an API key from a file of its own. Other users and tools would see it in arguments or the environment. The file
 * is checked each second, so that a rotated key serves without a restart. A file that cannot be used changes nothing.
 *
 * @throws KeyFileError where it cannot be used from the start.
 */
export function openKeyFile({ file, logger }: { file: string; logger: Logger }): KeyFile {
  let key = readKey({ file, logger });

  function look(): void {
    try {
      const next = readKey({ file, logger });
      if (next === key) return;
      key = next;
      logger.info({ file }, "the key file has another key, which is used from now on");
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      logger.error({ file }, `${error.message}; the key from before stays in use`);
    }
  }

  // Polled, because the system's watchers lose a file that is replaced by a rename.
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return { apiKey: () => key, stop: () => unwatchFile(file, look) };
}

function readKey({ file, logger }: { file: string; logger: Logger }): string {
  const { text, mode } = readSmallFile(file);
  // Windows does not have these bits and shows them as set.
  if (platform() !== "win32" && (mode & 0o077) !== 0) {
    logger.warn(
      { file, mode: (mode & 0o777).toString(8) },
      `other users of this machine may read the key: chmod 600 ${file}`,
    );
  }
  const key = text.trim();
  if (key === "") throw new KeyFileError(`${file} is empty: an API key was expected`);
  if (!/^[\x21-\x7e]{16,200}$/.test(key)) {
    throw new KeyFileError(`${file} holds something else than one API key (16 to 200 characters, no spaces)`);
  }
  if (checkApiKey(key) === "mistyped") {
    throw new KeyFileError(
      `the key in ${file} has a typing error: its checksum does not match. Was it copied as a whole?`,
    );
  }
  return key;
}

function readSmallFile(file: string): { text: string; mode: number } {
  try {
    const descriptor = openSync(file, "r");
    try {
      const { size, mode } = fstatSync(descriptor);
      if (size > fileBytesMax) throw new KeyFileError(`${file} is too large to be a key file`);
      return { text: readFileSync(descriptor, "utf8"), mode };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof KeyFileError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new KeyFileError(`${file} cannot be read (${code})`);
  }
}
