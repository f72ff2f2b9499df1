import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";

/*
 * Files of the format age v1 (https://c2sp.org/age) as stages of a pipeline, by typage, the package of age's author. Gigabytes pass in pieces of 64 KiB.
 */

type Stage = (source: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array, void>;

/** Says in words why a file cannot be read. */
export class AgeError extends Error {
  override name = "AgeError";
}

/** A new pair, as `age-keygen` writes one: `AGE-SECRET-KEY-1…` and `age1…`. */
export async function generateAgeKeys(): Promise<{ identity: string; recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Whether it is an `age1…` without a typing error. */
export function isRecipient(text: string): boolean {
  return accepts(() => new Encrypter().addRecipient(text));
}

/** Whether it is an `AGE-SECRET-KEY-…` without a typing error. */
export function isIdentity(text: string): boolean {
  return accepts(() => new Decrypter().addIdentity(text));
}

/** Encrypts what passes for all of `recipients`; each of them can open it alone. */
export function encryptFor(recipients: readonly string[]): Stage {
  if (recipients.length === 0) throw new Error("nobody could open it");
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return async function* encrypt(source) {
    yield* await encrypter.encrypt(ReadableStream.from(source));
  };
}

/**
 * Decrypts what passes. What has passed is as it was encrypted, but only at the end is it known that nothing is missing.
 * The stage fails with an AgeError that says why, or as its source does.
 */
export function decryptWith(identities: readonly string[]): Stage {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  return async function* decrypt(source) {
    let failure: { cause: unknown } | undefined;
    async function* watched(): AsyncGenerator<Uint8Array, void> {
      try {
        yield* source;
      } catch (cause) {
        failure = { cause };
        throw cause;
      }
    }
    const refuse = (words: string): never => {
      if (failure !== undefined) throw failure.cause;
      throw new AgeError(words);
    };
    const plain = await decrypter.decrypt(ReadableStream.from(watched())).catch((error: unknown) => {
      const isForOthers = error instanceof Error && error.message.startsWith("no identity matched");
      return refuse(
        isForOthers
          ? "none of these identities can open it: it was encrypted for somebody else"
          : "its header was changed or cut off, or it is no file that age has encrypted",
      );
    });
    const reader = plain.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(() => refuse("it was changed or cut off"));
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  };
}

function accepts(add: () => void): boolean {
  try {
    add();
    return true;
  } catch {
    return false;
  }
}
