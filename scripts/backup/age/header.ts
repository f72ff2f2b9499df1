import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { type Identity, type Recipient, rawOf, recipientOf, sharedSecret } from "./keys.ts";

/** The text before an age file's payload: who can open it, and how. https://c2sp.org/age */

const firstLine = "age-encryption.org/v1";
const info = "age-encryption.org/v1/X25519";
const fileKeyBytes = 16;
const tagBytes = 16;
const bodyColumns = 64;
/** More than a header of as many recipients as anybody has. */
export const headerBytesMax = 65_536;

/** @throws AgeError that says in words why a file cannot be read. */
export class AgeError extends Error {
  override name = "AgeError";
}

export function writeHeader(recipients: readonly Recipient[]): { header: Buffer; fileKey: Buffer } {
  const fileKey = randomBytes(fileKeyBytes);
  const stanzas = recipients.map((recipient) => {
    const ephemeral = generateKeyPairSync("x25519");
    const share = rawOf(ephemeral.publicKey);
    const wrapKey = wrapKeyOf({
      secret: sharedSecret(ephemeral.privateKey, recipient.key),
      share,
      recipient,
    });
    const cipher = createCipheriv("chacha20-poly1305", wrapKey, Buffer.alloc(12), {
      authTagLength: tagBytes,
    });
    const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
    return `-> X25519 ${base64(share)}\n${base64(body)}\n`;
  });
  const signed = `${firstLine}\n${stanzas.join("")}---`;
  return { header: Buffer.from(`${signed} ${base64(macOf(fileKey, signed))}\n`), fileKey };
}

/** Where a header ends in the first bytes of a file; undefined while its end is not among them. */
export function headerEnd(bytes: Buffer): number | undefined {
  const begin = Buffer.from(`${firstLine}\n`);
  if (!bytes.subarray(0, begin.length).equals(begin.subarray(0, bytes.length)))
    throw new AgeError("this is no file that age has encrypted");
  const last = bytes.indexOf("\n--- ");
  const end = last === -1 ? -1 : bytes.indexOf("\n", last + 1);
  if (end === -1 && bytes.length > headerBytesMax) throw new AgeError("its header does not end");
  return end === -1 ? undefined : end + 1;
}

/** @returns the file's key, for the first identity that has one. @throws AgeError */
export function openHeader(header: Buffer, identities: readonly Identity[]): Buffer {
  const text = header.toString("latin1");
  const last = text.lastIndexOf("\n--- ");
  const signed = text.slice(0, last + 4);
  const mac = fromBase64(text.slice(last + 5, -1));
  for (const { share, body } of readStanzas(signed)) {
    for (const identity of identities) {
      const fileKey = unwrap({ share, body, identity });
      if (fileKey === undefined) continue;
      const wanted = macOf(fileKey, signed);
      if (mac?.length !== wanted.length || !timingSafeEqual(mac, wanted))
        throw new AgeError("its header was changed");
      return fileKey;
    }
  }
  throw new AgeError("none of these identities can open it: it was encrypted for somebody else");
}

type Stanza = { share: Buffer; body: Buffer };

/** The X25519 ones; others are for others. */
function readStanzas(signed: string): Stanza[] {
  const lines = signed.split("\n").slice(1, -1);
  const stanzas: Stanza[] = [];
  for (let at = 0; at < lines.length; ) {
    const [arrow, type, ...words] = (lines[at] ?? "").split(" ");
    if (arrow !== "->" || type === undefined) throw new AgeError("its header cannot be read");
    let encoded = "";
    for (at += 1; at < lines.length; ) {
      const line = lines[at] ?? "";
      encoded += line;
      at += 1;
      if (line.length < bodyColumns) break;
    }
    if (type !== "X25519") continue;
    const [share, body] = [fromBase64(words[0] ?? ""), fromBase64(encoded)];
    if (share?.length !== 32 || body?.length !== fileKeyBytes + tagBytes || words.length !== 1)
      throw new AgeError("its header cannot be read");
    stanzas.push({ share, body });
  }
  return stanzas;
}

function unwrap({ share, body, identity }: Stanza & { identity: Identity }): Buffer | undefined {
  try {
    const secret = sharedSecret(identity.privateKey, recipientOf(share).key);
    const wrapKey = wrapKeyOf({ secret, share, recipient: identity });
    const cipher = createDecipheriv("chacha20-poly1305", wrapKey, Buffer.alloc(12), {
      authTagLength: tagBytes,
    });
    cipher.setAuthTag(body.subarray(fileKeyBytes));
    return Buffer.concat([cipher.update(body.subarray(0, fileKeyBytes)), cipher.final()]);
  } catch {
    // It is another recipient's, or a share of low order.
    return undefined;
  }
}

function wrapKeyOf({
  secret,
  share,
  recipient,
}: {
  secret: Buffer;
  share: Buffer;
  recipient: Recipient;
}): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, Buffer.concat([share, recipient.bytes]), info, 32));
}

function macOf(fileKey: Buffer, signed: string): Buffer {
  const key = Buffer.from(hkdfSync("sha256", fileKey, "", "header", 32));
  return createHmac("sha256", key).update(signed, "latin1").digest();
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}

/** Only as age writes it: without padding, and nothing else says the same. */
function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return base64(bytes) === text ? bytes : undefined;
}
