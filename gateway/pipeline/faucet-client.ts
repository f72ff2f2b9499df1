import { request } from "undici";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { Reply } from "../server/exchange.ts";

export type FaucetClient = {
  /** Passes a claim on with the team in whose name it is made, and with what makes repeating it harmless. */
  claim(
    body: Uint8Array,
    options: { team: string; idempotencyKey: string | undefined },
  ): Promise<Reply | Refusal>;
  /** A claim as it is now. */
  find(id: string): Promise<Reply | Refusal>;
};

const timeoutMs = 10_000;
const answerBytesMax = 64 * 1024;
/** Where the gateway serves what the faucet serves at `/`. */
const pathPrefix = "/faucet";

/**
 * The faucet's private listener. It believes the header `X-Tollgate-Team`, which is why only the gateway may reach it;
 * the public port of the faucet does not know that header. `url` empty: there is no faucet.
 */
export function createFaucetClient({ url }: { url: string }): FaucetClient {
  const unavailable = refusal("upstream_unavailable", "The faucet does not answer; try again shortly");
  if (url === "") {
    const none = refusal("upstream_unavailable", "There is no faucet behind this gateway");
    return { claim: async () => none, find: async () => none };
  }
  const base = url.endsWith("/") ? url : `${url}/`;

  async function ask(path: string, options: Parameters<typeof request>[1]): Promise<Reply | Refusal> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await request(new URL(path, base), { ...options, signal });
      const text = await boundedText(response.body);
      const { "content-type": type } = response.headers;
      if (text === undefined || typeof type !== "string") return unavailable;
      const headers = passedHeaders(response.headers);
      return { status: response.statusCode, contentType: type, headers, body: text };
    } catch {
      return unavailable;
    }
  }

  return {
    claim: (body, { team, idempotencyKey }) =>
      ask("claim", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-tollgate-team": team,
          ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
        },
        body,
      }),
    find: (id) => ask(`claims/${id}`, { method: "GET" }),
  };
}

/** The headers that a client gets: how long to wait, the faucet's limits, and where to follow the claim. */
function passedHeaders(received: Readonly<Record<string, unknown>>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of ["Retry-After", "RateLimit", "RateLimit-Policy", "Location"]) {
    const value = received[name.toLowerCase()];
    if (typeof value === "string") passed[name] = name === "Location" ? pathPrefix + value : value;
  }
  return passed;
}

/** The key's limit first, then those of the faucet: both fields are lists (draft-ietf-httpapi-ratelimit-headers-10). */
export function joinLimits(
  ofKey: Readonly<Record<string, string>>,
  ofFaucet: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined = { ...ofFaucet, ...ofKey };
  for (const name of ["RateLimit", "RateLimit-Policy"]) {
    const both = [ofKey[name], ofFaucet[name]].filter((value) => value !== undefined);
    if (both.length > 0) joined[name] = both.join(", ");
  }
  return joined;
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
