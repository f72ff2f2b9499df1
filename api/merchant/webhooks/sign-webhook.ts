import { createHmac } from "node:crypto";
import { bytesOfSecret } from "./webhook-secret.ts";

export type WebhookSecrets = {
  current: string;
  /** While the secret is changed. */
  next: string | undefined;
};

/**
 * The fields of a delivery, over the very bytes that are sent. Two schemes stand beside each other, and are keyed differently:
 *
 * - `X-Svc-Signature`: the published one, keyed with the secret's whole text, `whsec_` included. It holds one signature, so
 *   while a secret is changed the new one's is in `X-Svc-Signature-Next`.
 * - `webhook-signature`: https://www.standardwebhooks.com, over id, time and body, keyed with the bytes that the secret's base64
 *   stands for. It has the signatures of both secrets.
 */
export function signWebhook({
  id,
  type,
  body,
  atUnix,
  secrets: { current, next },
}: {
  id: string;
  type: string;
  body: string;
  /** When this try is made. */
  atUnix: number;
  secrets: WebhookSecrets;
}): Record<string, string> {
  const all = next === undefined ? [current] : [current, next];
  return {
    "Content-Type": "application/json",
    "User-Agent": "Tollgate-Webhooks/1",
    "X-Svc-Event": type,
    "X-Svc-Signature": plainSignature(current, body),
    ...(next === undefined ? {} : { "X-Svc-Signature-Next": plainSignature(next, body) }),
    "webhook-id": id,
    "webhook-timestamp": String(atUnix),
    "webhook-signature": all.map((secret) => standardSignature({ secret, id, atUnix, body })).join(" "),
  };
}

/** `sha256=` and lower-case hexadecimal. */
export function plainSignature(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** `v1,` and base64. */
export function standardSignature({
  secret,
  id,
  atUnix,
  body,
}: {
  secret: string;
  id: string;
  atUnix: number;
  body: string;
}): string {
  const signed = createHmac("sha256", bytesOfSecret(secret)).update(`${id}.${atUnix}.${body}`);
  return `v1,${signed.digest("base64")}`;
}
