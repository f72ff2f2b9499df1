import { request } from "undici";
import { explainSendFailure } from "./explain-send-failure.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createLookUpName } from "./look-up-name.ts";
import { type AddressRule, isPublicAddress } from "./public-address.ts";
import { signWebhook, type WebhookSecrets } from "./sign-webhook.ts";
import { urlProblem } from "./webhook-url.ts";

export type SentWebhook = {
  /** Null where nothing was answered. */
  status: number | null;
  tookMs: number;
  /** Why no whole answer came, in words; null where one did. */
  error: string | null;
  /** The first bytes of what was answered. */
  answerStart: string;
  retryAfter: string | undefined;
  /** With what it was tried; null where it was not even begun. */
  request: { url: string; headers: Readonly<Record<string, string>> } | null;
};

export type SendWebhook = (delivery: {
  url: string;
  id: string;
  type: string;
  body: string;
  secrets: WebhookSecrets;
}) => Promise<SentWebhook>;

const totalMs = 15_000;
const answerBytesMax = 65_536;
const answerKeptBytes = 1024;

/** Sends one delivery, once, to a place that everybody reaches. It never rejects, follows no redirect, and takes 15 s at most. */
export function createWebhookSender({
  httpsOnly,
  isAllowed = isPublicAddress,
  dnsServers = [],
  timeoutMs = totalMs,
  now,
}: {
  httpsOnly: boolean;
  isAllowed?: AddressRule;
  /** With ports; none: the machine's. */
  dnsServers?: readonly string[];
  timeoutMs?: number;
  now: () => number;
}) {
  const lookUpName = createLookUpName({ servers: dnsServers });
  const agent = createGuardedAgent({ lookUpName, isAllowed, timeoutMs });

  const send: SendWebhook = async ({ url, id, type, body, secrets }) => {
    const begunAtMs = performance.now();
    const nothing = { status: null, answerStart: "", retryAfter: undefined };
    const tookMs = () => Math.round(performance.now() - begunAtMs);
    const problem = urlProblem(url, { httpsOnly });
    if (problem !== undefined) return { ...nothing, tookMs: 0, error: problem, request: null };
    const headers = signWebhook({ id, type, body, secrets, atUnix: Math.floor(now() / 1000) });
    let status: number | null = null;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await request(url, { method: "POST", headers, body, signal, dispatcher: agent });
      status = answer.statusCode;
      const { "retry-after": given } = answer.headers;
      const retryAfter = typeof given === "string" ? given : undefined;
      const answerStart = await readStart(answer.body);
      return { status, tookMs: tookMs(), error: null, answerStart, retryAfter, request: { url, headers } };
    } catch (error) {
      const failure = explainSendFailure(error, { timeoutMs });
      return { ...nothing, status, tookMs: tookMs(), error: failure, request: { url, headers } };
    }
  };

  return { send, stop: () => agent.destroy() };
}

/** Reads an answer up to its bound, beyond which nobody needs it, and keeps the beginning. */
async function readStart(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    if (bytes < answerKeptBytes) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > answerBytesMax) break;
  }
  return textOf(Buffer.concat(chunks).subarray(0, answerKeptBytes));
}

/** As PostgreSQL takes it. What is cut within a character, or is no text, becomes U+FFFD; that takes three bytes for one. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8").replaceAll("\u0000", "\ufffd");
  return Buffer.from(text)
    .subarray(0, answerKeptBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
}
