import { Pool } from "undici";
import type { ForwardConfig } from "../config.ts";

/** What became of one HTTP request to a validator. `mayHaveArrived` tells whether it may have been carried out. */
export type Posted =
  | { kind: "answered"; status: number; body: Buffer }
  | { kind: "failed"; reason: FailureReason; mayHaveArrived: boolean };

/** A closed list, since it labels metrics. */
export const failureReasons = ["connect", "timeout", "closed", "too_large", "bad_answer"] as const;
export type FailureReason = (typeof failureReasons)[number];

export type Validator = {
  url: string;
  /** Sends one body and reads the whole answer, within `timeoutMs`. Never throws. */
  post(body: Buffer, options: { timeoutMs: number }): Promise<Posted>;
  stop(): Promise<void>;
};

/** One validator behind a few keep-alive HTTP connections. */
export function createValidator({ url, forward }: { url: string; forward: ForwardConfig }): Validator {
  const { origin, pathname, search } = new URL(url);
  const pool = new Pool(origin, {
    connections: forward.connectionsPerValidator,
    pipelining: 1,
    connectTimeout: forward.connectTimeoutMs,
    // Time is kept by each request's own signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  return {
    url,
    async post(body, { timeoutMs }) {
      try {
        const response = await pool.request({
          method: "POST",
          path: pathname + search,
          headers: { "content-type": "application/json" },
          body,
          signal: AbortSignal.timeout(timeoutMs),
        });
        const chunks: Buffer[] = [];
        let bytes = 0;
        for await (const chunk of response.body) {
          const part: Buffer = chunk;
          bytes += part.length;
          if (bytes > forward.answerBytesMax) {
            response.body.destroy();
            return { kind: "failed", reason: "too_large", mayHaveArrived: true };
          }
          chunks.push(part);
        }
        return { kind: "answered", status: response.statusCode, body: joined(chunks) };
      } catch (error) {
        const reason = reasonOf(error);
        return { kind: "failed", reason, mayHaveArrived: reason !== "connect" };
      }
    },
    stop: () => pool.destroy(),
  };
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** Failures while connecting are told apart: then not a byte of the request has left. */
function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof Error)) return "closed";
  if (error.name === "TimeoutError") return "timeout";
  const code = "code" in error ? error.code : undefined;
  const isConnect =
    code === "ECONNREFUSED" ||
    code === "UND_ERR_CONNECT_TIMEOUT" ||
    code === "ENOTFOUND" ||
    code === "EAI_AGAIN" ||
    code === "EHOSTUNREACH" ||
    code === "ENETUNREACH";
  return isConnect ? "connect" : "closed";
}
