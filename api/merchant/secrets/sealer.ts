import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export type Sealer = {
  /** `about` is what the secret belongs to, such as the id of its row: sealed bytes that are moved to another row do not open. */
  seal(secret: string, about: string): Buffer;
  /** Undefined where no key opens it, it belongs to something else, or it was changed. */
  open(sealed: Buffer, about: string): string | undefined;
  /** The same secret under the first key, where another one opens it; undefined where there is nothing to do, or none opens it. */
  sealAnew(sealed: Buffer, about: string): Buffer | undefined;
  /** Whether there is more than one key. */
  isKeyChanging: boolean;
};

/**
 * Secrets as the database holds them: AES-256-GCM under the first key, opened by any of them, so that a key can be changed
 * while what the last one sealed is still needed. A copy of the database alone reveals none.
 */
export function createSealer({ keys }: { keys: readonly [Buffer, ...Buffer[]] }): Sealer {
  const [current, ...earlier] = keys;

  function seal(secret: string, about: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, current, nonce);
    cipher.setAAD(Buffer.from(about));
    const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
  }

  function openByAny(some: readonly Buffer[], sealed: Buffer, about: string): string | undefined {
    if (sealed.length < nonceBytes + tagBytes) return undefined;
    for (const key of some) {
      const opened = openWith(key, sealed, about);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  return {
    seal,
    open: (sealed, about) => openByAny(keys, sealed, about),
    sealAnew(sealed, about) {
      const secret = openByAny(earlier, sealed, about);
      return secret === undefined ? undefined : seal(secret, about);
    },
    isKeyChanging: earlier.length > 0,
  };
}

function openWith(key: Buffer, sealed: Buffer, about: string): string | undefined {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes));
  decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    const secret = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([secret, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
