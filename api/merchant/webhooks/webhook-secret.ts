import { randomBytes } from "node:crypto";

const prefix = "whsec_";
const secretBytes = 32;

/** A secret as Standard Webhooks writes it: a prefix and base64. */
export function createWebhookSecret(): string {
  return webhookSecretOf(randomBytes(secretBytes));
}

export function webhookSecretOf(bytes: Buffer): string {
  return prefix + bytes.toString("base64");
}

/** Whether a text has the form of a secret of ours. */
export function isWebhookSecret(text: string): boolean {
  const bytes = bytesOfSecret(text);
  return bytes.length === secretBytes && webhookSecretOf(bytes) === text;
}

/** The bytes that Standard Webhooks signs with. `X-Svc-Signature` is keyed with the secret's whole text instead. */
export function bytesOfSecret(secret: string): Buffer {
  return Buffer.from(secret.slice(secret.startsWith(prefix) ? prefix.length : 0), "base64");
}
