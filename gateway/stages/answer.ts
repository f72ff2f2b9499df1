import { errorTable } from "../../lib/errors.ts";
import { problemDocument, problemType } from "../../lib/problem.ts";
import type { Answer, Call } from "../call.ts";
import type { Reply, StreamedBody } from "../http/exchange.ts";
import { isRefusal, type Refusal, rpcErrorText } from "../refusal.ts";
import type { StreamedAnswer } from "../upstream/validator-pool.ts";

const jsonHeaders = { "Content-Type": "application/json" };

/**
 * The answer to a request whose calls were carried out: response objects in the request's order, none for a
 * notification, 204 where that leaves nothing (JSON-RPC 2.0 sections 5 and 6).
 */
export function answer({
  isBatch,
  calls,
  outcomes,
  headers,
}: {
  isBatch: boolean;
  calls: readonly Call[];
  outcomes: readonly (Answer | StreamedAnswer | Refusal)[];
  /** Headers of the HTTP answer besides its type. */
  headers: Readonly<Record<string, string>>;
}): Reply {
  // What no validator answered shows as status 503, for load balancers and clients that look no further.
  const status = outcomes.every((outcome) => isRefusal(outcome) && outcome.refused === "upstream_unavailable")
    ? errorTable.upstream_unavailable.status
    : calls.some(({ idText }) => idText !== undefined)
      ? 200
      : 204;
  const all = status === 503 ? { ...headers, "Retry-After": "1" } : headers;
  const texts: string[] = [];
  const [alone] = outcomes;
  const idText = calls[0]?.idText;
  if (alone !== undefined && isStreamed(alone) && idText !== undefined) {
    return { status, headers: { ...jsonHeaders, ...all }, body: streamedBody(alone, idText) };
  }
  for (const [index, outcome] of outcomes.entries()) {
    const idText = calls[index]?.idText;
    if (idText !== undefined && !isStreamed(outcome)) texts.push(responseText(idText, outcome));
  }
  const [first] = outcomes;
  if (texts.length === 0) {
    // Notifications have no answers, but one that nobody carried out must not look as if it had been.
    return status !== 204 && first !== undefined && isRefusal(first)
      ? answerRefusal({ ...first, headers: all }, "null")
      : { status, headers: all, body: undefined };
  }
  const text = isBatch ? `[${texts.join(",")}]` : texts.join("");
  return { status, headers: { ...jsonHeaders, ...all }, body: Buffer.from(text, "latin1") };
}

/** The answer to a request that is refused as a whole: a JSON-RPC error with the id that could be read, or `null`. */
export function answerRefusal(refused: Refusal, idText: string): Reply {
  const { Connection: connection, ...headers } = refused.headers ?? {};
  return {
    status: errorTable[refused.refused].status,
    headers: { ...jsonHeaders, ...headers },
    body: Buffer.from(responseText(idText, refused), "latin1"),
    close: connection === "close",
  };
}

/** The same as a problem document (RFC 9457), where nothing says that the request was meant to be JSON-RPC. */
export function answerProblem(refused: Refusal, requestId?: string): Reply {
  const problem = problemDocument({ condition: refused.refused, detail: refused.message, requestId });
  const { Connection: connection, ...headers } = refused.headers ?? {};
  return {
    status: problem.status,
    headers: { "Content-Type": problemType, ...headers },
    body: JSON.stringify(problem),
    close: connection === "close",
  };
}

function streamedBody(answer: StreamedAnswer, idText: string): StreamedBody {
  const first = Buffer.concat([Buffer.from(answer.beforeId + idText, "latin1"), answer.afterId]);
  return { first, start: answer.start, pause: answer.pause, resume: answer.resume, abort: answer.abort };
}

function isStreamed(outcome: Answer | StreamedAnswer | Refusal): outcome is StreamedAnswer {
  return "start" in outcome;
}

/** A response object (JSON-RPC 2.0 section 5) as bytes, one a character. Messages of ours are ASCII. */
function responseText(idText: string, outcome: Answer | Refusal): string {
  return isRefusal(outcome)
    ? `{"jsonrpc":"2.0","id":${idText},"error":${rpcErrorText(outcome)}}`
    : outcome.beforeId + idText + outcome.afterId;
}
