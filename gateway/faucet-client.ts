import { request } from "undici";
import type { Reply } from "./http/exchange.ts";
import { type Refusal, refusal } from "./refusal.ts";

export type FaucetClient = {
  /** Passes a claim on with the team in whose name it is made, and with what makes repeating it harmless. */
  claim(
    body: Uint8Array,
    options: { team: string; idempotencyKey: string | undefined },
  ): Promise<Reply | Refusal>;
};

const timeoutMs = 10_000;
const answerBytesMax = 64 * 1024;

/**
 * The faucet's private listener. It believes the header `X-Tollgate-Team`, which is why only the gateway may reach it;
 * the public port of the faucet does not know that header. `url` empty: there is no faucet.
 */
export function createFaucetClient({ url }: { url: string }): FaucetClient {
  const unavailable = refusal(
    "upstream_unavailable",
    "The faucet does not answer at the moment; try again shortly",
  );
  if (url === "") {
    const none = refusal("upstream_unavailable", "There is no faucet behind this gateway");
    return { claim: async () => none };
  }
  const address = new URL("claim", url.endsWith("/") ? url : `${url}/`);
  return {
    async claim(body, { team, idempotencyKey }) {
      try {
        const response = await request(address, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "x-tollgate-team": team,
            ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
          },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
        const text = await boundedText(response.body);
        const { "content-type": type, "retry-after": retryAfter } = response.headers;
        if (text === undefined || typeof type !== "string") return unavailable;
        const headers = typeof retryAfter === "string" ? { "Retry-After": retryAfter } : {};
        return { status: response.statusCode, contentType: type, headers, body: text };
      } catch {
        return unavailable;
      }
    },
  };
}

async function boundedText(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
