import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { signWebhook } from "../../api/merchant/webhooks/sign-webhook.ts";

/** What came of sending an event on: an answer's status, or why there was none. */
export type Forwarded = { status: number; tookMs: number } | { failure: string };

/** As long as a webhook's receiver has. */
const timeoutMs = 15_000;
const answerBytesMax = 65_536;
/** Where nothing answers, it is tried again after each of these. */
const retryAfterMs = [1000, 2000, 4000];

/**
 * Sends an event to a developer's machine as a webhook is sent: the same bytes, the same header fields, signed now. What answers is
 * asked once, whatever it says; what does not answer is asked a few times.
 */
export async function forwardEvent({
  to,
  event: { id, type, body },
  secret,
  note,
  stopping,
  pausesMs = retryAfterMs,
}: {
  to: URL;
  event: { id: string; type: string; body: string };
  secret: string;
  note: (text: string) => void;
  stopping: AbortSignal;
  pausesMs?: readonly number[];
}): Promise<Forwarded> {
  for (let attempt = 0; ; attempt += 1) {
    const begunAtMs = performance.now();
    try {
      const headers = signWebhook({
        ...{ id, type, body, secrets: { current: secret, next: undefined } },
        atUnix: Math.floor(Date.now() / 1000),
      });
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]);
      const answer = await request(to, { method: "POST", headers, body, signal });
      await answer.body.dump({ limit: answerBytesMax, signal });
      return { status: answer.statusCode, tookMs: Math.round(performance.now() - begunAtMs) };
    } catch (error) {
      const failure = explain(error);
      const pauseMs = pausesMs[attempt];
      if (stopping.aborted || pauseMs === undefined) return { failure };
      note(`${to.host}: ${failure}. Trying again in ${Math.ceil(pauseMs / 1000)} s.`);
      await sleep(pauseMs, undefined, { signal: stopping }).catch(() => {});
    }
  }
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  ECONNRESET: "it closed the connection without an answer",
  UND_ERR_SOCKET: "it closed the connection without an answer",
};

function explain(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer in ${timeoutMs / 1000} s`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return words[code] ?? (code === "" ? "it cannot be reached" : code);
}
