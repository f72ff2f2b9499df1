import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../../../lib/cli/command.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { generateAgeKeys, isIdentity, isRecipient } from "./age.ts";

/*
 * Two pairs of keys. Who takes backups holds `recipients.txt` and `signing-key.pem`: that machine can write backups and read none.
 * Who restores holds `identity.txt` and `verify-key.pem`. age alone does not say who wrote a file, so backups are signed, too.
 */

export const keyFileNames = {
  recipients: "recipients.txt",
  signing: "signing-key.pem",
  identity: "identity.txt",
  verify: "verify-key.pem",
} as const;

const recipientsMax = 32;

/** @throws CommandError where one of the files is there already: an overwritten identity makes every older backup unreadable. */
export async function makeKeyFiles(folder: string): Promise<{ recipient: string }> {
  const { identity, recipient } = await generateAgeKeys();
  const signing = generateKeyPairSync("ed25519");
  const contents = {
    identity: `# Reads all backups. Keep it away from the machine that takes them.\n# public key: ${recipient}\n${identity}\n`,
    verify: signing.publicKey.export({ type: "spki", format: "pem" }).toString(),
    signing: signing.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    recipients: `${recipient}\n`,
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of ["identity", "verify", "signing", "recipients"] as const) {
    const file = join(folder, keyFileNames[name]);
    await writeFile(file, contents[name], { flag: "wx", mode: 0o600, flush: true }).catch(
      (error: unknown) => {
        throw new CommandError(
          errorCode(error) === "EEXIST"
            ? `${file} is there already. Nothing reads the backups of now without it: name another folder.`
            : `${file} cannot be written (${errorCode(error)}).`,
          { exitCode: 1 },
        );
      },
    );
  }
  return { recipient };
}

export type WriterKeys = { recipients: readonly string[]; signingKey: KeyObject };
export type ReaderKeys = { identities: readonly string[]; verifyKey: KeyObject };

export async function readWriterKeys(folder: string): Promise<WriterKeys> {
  const file = join(folder, keyFileNames.recipients);
  const recipients = await linesOf(file);
  if (!recipients.every(isRecipient)) throw unusable(file, "a line is no age1…");
  if (recipients.length === 0) throw unusable(file, "it names nobody");
  if (recipients.length > recipientsMax) throw unusable(file, `it names more than ${recipientsMax}`);
  return { recipients, signingKey: await pemOf(join(folder, keyFileNames.signing), createPrivateKey) };
}

export async function readReaderKeys(folder: string): Promise<ReaderKeys> {
  const file = join(folder, keyFileNames.identity);
  const identities = await linesOf(file);
  if (!identities.every(isIdentity)) throw unusable(file, "a line is no AGE-SECRET-KEY-1…");
  if (identities.length === 0) throw unusable(file, "it has no AGE-SECRET-KEY-1…");
  return { identities, verifyKey: await pemOf(join(folder, keyFileNames.verify), createPublicKey) };
}

async function linesOf(file: string): Promise<string[]> {
  const text = await textOf(file);
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

async function pemOf(file: string, read: (pem: string) => KeyObject): Promise<KeyObject> {
  const text = await textOf(file);
  try {
    const key = read(text);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Said below; OpenSSL's own words help nobody.
  }
  throw unusable(file, "it holds no Ed25519 key");
}

async function textOf(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error: unknown) => {
    throw unusable(file, `it cannot be read (${errorCode(error)})`);
  });
}

function unusable(file: string, why: string): CommandError {
  return new CommandError(`${file}: ${why}. Keys of backups are made by: npm run backup -- init`, {
    exitCode: 1,
  });
}
