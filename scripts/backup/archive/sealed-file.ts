import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { z } from "zod";
import { CommandError } from "../../../lib/cli/command.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { AgeError, decryptWith, encryptFor } from "./age.ts";

/** What a file is known by. `plain…`: of what it holds, before it was compressed and encrypted. */
export type Sealed = { bytes: number; sha256: string; plainBytes: number; plainSha256: string };

export const sealedSchema = z.strictObject({
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  plainBytes: z.int().min(0),
  plainSha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const prematureClose = "ERR_STREAM_PREMATURE_CLOSE";

/** As `zstd --fast`'s neighbour: level 3 is zstd's own default. */
const level = 3;

/** Compresses (zstd), encrypts (age) and writes what `source` gives; it is on the disk when this resolves. Nothing is written over. */
export async function writeSealed({
  source,
  file,
  recipients,
}: {
  source: Readable;
  file: string;
  recipients: readonly string[];
}): Promise<Sealed> {
  const [plain, sealed] = [counting(), counting()];
  await pipeline(
    source,
    plain.stream,
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: level } }),
    encryptFor(recipients),
    sealed.stream,
    createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }),
  );
  const [inside, outside] = [plain.result(), sealed.result()];
  return { ...outside, plainBytes: inside.bytes, plainSha256: inside.sha256 };
}

/**
 * Passes what a file holds on to `sink`, once all of the file has been seen to be what was signed: no byte of another one is unpacked.
 * @throws CommandError that says in words what is wrong with the file.
 */
export async function readSealed({
  file,
  known,
  identities,
  sink,
}: {
  file: string;
  known: Sealed;
  identities: readonly string[];
  sink: (plain: Readable) => Promise<void>;
}): Promise<void> {
  await checkSealed({ file, known });
  const plain = counting();
  const [passed, taken] = await Promise.allSettled([
    pipeline(createReadStream(file), decryptWith(identities), createZstdDecompress(), plain.stream),
    sink(plain.stream),
  ]);
  // A sink that fails closes the stream, which the pipeline notices as well: the sink knows why.
  const failed = passed.status === "rejected" && errorCode(passed.reason) !== prematureClose ? passed : taken;
  if (failed.status === "rejected") {
    const { reason } = failed;
    throw reason instanceof AgeError ? refused(file, reason.message) : reason;
  }
  if (passed.status === "rejected") throw passed.reason;
  if (plain.result().sha256 !== known.plainSha256)
    throw refused(file, "it does not hold what its manifest says");
}

/** @throws CommandError where it is missing, cut off or another one. It is not opened. */
export async function checkSealed({ file, known }: { file: string; known: Sealed }): Promise<void> {
  const { size } = await stat(file).catch(() => {
    throw refused(file, "it is missing");
  });
  if (size < known.bytes) throw refused(file, `it was cut off: ${size} of ${known.bytes} bytes are there`);
  const seen = counting();
  await pipeline(createReadStream(file), seen.stream, async (bytes) => {
    for await (const _piece of bytes);
  });
  if (seen.result().sha256 !== known.sha256) throw refused(file, "it was changed");
}

/** Writes JSON and beside it, in `FILE.sig`, its Ed25519 signature; the signature last, so that a half is none. */
export async function writeSigned({
  file,
  value,
  signingKey,
}: {
  file: string;
  value: unknown;
  signingKey: KeyObject;
}): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const options = { flag: "wx", mode: 0o600, flush: true } as const;
  await writeFile(file, text, options);
  const signature = sign(null, signedBytes(file, text), signingKey).toString("base64");
  await writeFile(`${file}.sig`, `${signature}\n`, options);
}

/** @throws CommandError where it is not what the holder of the signing key has written under this name. */
export async function readSigned<Schema extends z.ZodType>({
  file,
  schema,
  verifyKey,
}: {
  file: string;
  schema: Schema;
  /** Undefined: only to be shown, not to be trusted. */
  verifyKey: KeyObject | undefined;
}): Promise<z.output<Schema>> {
  const text = await readFile(file, "utf8").catch(() => {
    throw refused(file, "it is missing, so this is no whole backup");
  });
  if (verifyKey !== undefined) {
    const signature = await readFile(`${file}.sig`, "utf8").catch(() => {
      throw refused(file, "its signature is missing, so it was not finished");
    });
    if (!verify(null, signedBytes(file, text), verifyKey, Buffer.from(signature, "base64")))
      throw refused(file, "it was changed, or signed by somebody else than verify-key.pem says");
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw refused(file, "it cannot be read: it is of another version of Tollgate");
  }
}

/** With the file's own name, so that one file's signature is none for another. */
function signedBytes(file: string, text: string): Buffer {
  return Buffer.from(`tollgate-backup ${basename(file)}\n${text}`);
}

function refused(file: string, why: string): CommandError {
  return new CommandError(`${file}: ${why}. Nothing was restored from it.`, { exitCode: 1 });
}

/** Passes everything on, and knows its length and hash at the end. */
function counting() {
  const hash = createHash("sha256");
  let bytes = 0;
  const stream = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece);
      bytes += piece.length;
      done(null, piece);
    },
  });
  let digest: string | undefined;
  return {
    stream,
    result() {
      digest ??= hash.digest("hex");
      return { bytes, sha256: digest };
    },
  };
}
