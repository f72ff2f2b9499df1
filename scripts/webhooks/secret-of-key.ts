import { createHmac } from "node:crypto";
import { webhookSecretOf } from "../../api/merchant/webhooks/webhook-secret.ts";

/**
 * The secret that `listen` signs with: HMAC-SHA256, keyed with the API key. It is the same at each run, so that a receiver is told it
 * once, and says nothing of the key.
 */
export function secretOfKey(key: string): string {
  return webhookSecretOf(createHmac("sha256", key).update("tollgate webhooks listen").digest());
}
