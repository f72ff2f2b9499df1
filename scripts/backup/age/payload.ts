import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Transform } from "node:stream";
import { AgeError, headerEnd, openHeader, writeHeader } from "./header.ts";
import type { Identity, Recipient } from "./keys.ts";

/* Files of the format age v1 (https://c2sp.org/age), as streams: gigabytes pass in pieces of 64 KiB. */

const chunkBytes = 65_536;
const tagBytes = 16;
const nonceBytes = 16;
const algorithm = "chacha20-poly1305";

/** Encrypts what passes for all of `recipients`; each of them can open it alone. */
export function encryptFor(recipients: readonly Recipient[]): Transform {
  if (recipients.length === 0) throw new Error("nobody could open it");
  const { header, fileKey } = writeHeader(recipients);
  const nonce = randomBytes(nonceBytes);
  const key = payloadKey(fileKey, nonce);
  const held = createHeld();
  let counter = 0;
  let hasBegun = false;

  function seal(chunk: Buffer, isLast: boolean): Buffer {
    const cipher = createCipheriv(algorithm, key, chunkNonce(counter, isLast), { authTagLength: tagBytes });
    counter += 1;
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }

  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      if (!hasBegun) this.push(Buffer.concat([header, nonce]));
      hasBegun = true;
      held.add(bytes);
      // A chunk is known to be no last one only when something comes behind it.
      while (held.length() > chunkBytes) this.push(seal(held.take(chunkBytes), false));
      done();
    },
    flush(done) {
      if (!hasBegun) this.push(Buffer.concat([header, nonce]));
      this.push(seal(held.take(held.length()), true));
      done();
    },
  });
}

/**
 * Decrypts what passes. What has passed is as it was encrypted, but only at the end is it known that nothing is missing.
 * The stream fails with an AgeError that says why.
 */
export function decryptWith(identities: readonly Identity[]): Transform {
  const held = createHeld();
  let key: Buffer | undefined;
  let counter = 0;

  function open(chunk: Buffer, isLast: boolean): Buffer {
    if (key === undefined) throw new AgeError("it ends within its header");
    if (chunk.length < tagBytes || (chunk.length === tagBytes && counter > 0))
      throw new AgeError("it was cut off");
    const cipher = createDecipheriv(algorithm, key, chunkNonce(counter, isLast), { authTagLength: tagBytes });
    counter += 1;
    cipher.setAuthTag(chunk.subarray(-tagBytes));
    try {
      return Buffer.concat([cipher.update(chunk.subarray(0, -tagBytes)), cipher.final()]);
    } catch {
      throw new AgeError("it was changed or cut off");
    }
  }

  function begin(): void {
    const first = held.peek();
    const end = headerEnd(first);
    if (end === undefined || first.length < end + nonceBytes) return;
    const fileKey = openHeader(first.subarray(0, end), identities);
    key = payloadKey(fileKey, first.subarray(end, end + nonceBytes));
    held.take(end + nonceBytes);
  }

  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      try {
        held.add(bytes);
        if (key === undefined) begin();
        if (key !== undefined)
          while (held.length() > chunkBytes + tagBytes)
            this.push(open(held.take(chunkBytes + tagBytes), false));
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
    flush(done) {
      try {
        this.push(open(held.take(held.length()), true));
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}

function payloadKey(fileKey: Buffer, nonce: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", fileKey, nonce, "payload", 32));
}

/** Eleven bytes of the chunk's number, and whether it is the last. */
function chunkNonce(counter: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(counter, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Bytes that wait, taken from the front without copying them anew for each piece that arrives. */
function createHeld() {
  let parts: Buffer[] = [];
  let total = 0;
  const whole = () => {
    const joined = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [joined];
    return joined;
  };
  return {
    length: () => total,
    peek: whole,
    add(bytes: Buffer): void {
      parts.push(bytes);
      total += bytes.length;
    },
    take(length: number): Buffer {
      const joined = whole();
      const taken = joined.subarray(0, length);
      parts = [joined.subarray(length)];
      total -= length;
      return taken;
    },
  };
}
