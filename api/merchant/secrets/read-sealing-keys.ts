import { readFileSync } from "node:fs";

export type SealingKeys = readonly [Buffer, ...Buffer[]];

/** 32 bytes that everybody knows, for development. */
export const developmentSealingKey = Buffer.from("tollgate development sealing key", "ascii");

const keysMax = 2;

/**
 * The keys of a file: a line of 64 hexadecimal digits each, the current one first, and the one before it while it is changed
 * (`openssl rand -hex 32`).
 * @throws Error that names the file, and no key.
 */
export function readSealingKeys(file: string): SealingKeys {
  const lines = readText(file)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [first, ...others] = lines.map((line) => {
    if (/^[0-9a-fA-F]{64}$/.test(line)) return Buffer.from(line, "hex");
    throw new Error(`${file}: a line of 64 hexadecimal digits was expected (openssl rand -hex 32 makes one)`);
  });
  if (first === undefined || lines.length > keysMax) {
    throw new Error(`${file}: one key was expected, or two while it is changed, not ${lines.length}`);
  }
  return [first, ...others];
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : "unreadable";
    throw new Error(`${file}: the key under which secrets are kept cannot be read (${code})`);
  }
}
