import { errorTable } from "../../lib/errors.ts";
import { problemDocument, problemType } from "../../lib/problem.ts";
import type { Answer, ByteText, Call } from "../call.ts";
import type { Reply, StreamedBody } from "../http/exchange.ts";
import { isRefusal, type Refusal, rpcErrorText } from "../refusal.ts";
import type { StreamedAnswer } from "../upstream/validator-pool.ts";

const json = "application/json";

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
  const [first] = outcomes;
  const firstId = calls[0]?.idText;
  if (first !== undefined && isStreamed(first) && firstId !== undefined) {
    return { status: 200, contentType: json, headers, body: streamedBody(first, firstId) };
  }
  // What no validator answered shows as status 503, for load balancers and clients that look no further.
  const isUnanswered = outcomes.every(isUnavailable);
  const status = isUnanswered ? errorTable.upstream_unavailable.status : 200;
  const all = isUnanswered ? { ...headers, "Retry-After": "1" } : headers;
  let text = "";
  let isAscii = true;
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index];
    const idText = calls[index]?.idText;
    if (outcome === undefined || idText === undefined || isStreamed(outcome)) continue;
    if (text !== "") text += ",";
    text += responseText(idText, outcome);
    isAscii &&= isAsciiId(idText) && (isRefusal(outcome) || outcome.isAscii);
  }
  if (text === "") {
    // Notifications have no answers, but one that nobody carried out must not look as if it had been.
    return isUnanswered && first !== undefined && isRefusal(first)
      ? answerRefusal({ ...first, headers: all }, "null")
      : { status: 204, headers: all, body: undefined };
  }
  return { status, contentType: json, headers: all, body: bodyOf(isBatch ? `[${text}]` : text, isAscii) };
}

function isUnavailable(outcome: Answer | StreamedAnswer | Refusal): boolean {
  return isRefusal(outcome) && outcome.refused === "upstream_unavailable";
}

/** One byte a character. ASCII is the same in UTF-8, so that the server can write the string itself. */
function bodyOf(text: ByteText, isAscii: boolean): string | Uint8Array {
  return isAscii ? text : Buffer.from(text, "latin1");
}

const ascii = /^[\0-\x7f]*$/;

function isAsciiId(idText: ByteText): boolean {
  return !idText.startsWith('"') || ascii.test(idText);
}

/** The answer to a request that is refused as a whole: a JSON-RPC error with the id that could be read, or `null`. */
export function answerRefusal(refused: Refusal, idText: string): Reply {
  const { Connection: connection, ...headers } = refused.headers ?? {};
  return {
    status: errorTable[refused.refused].status,
    contentType: json,
    headers,
    body: bodyOf(responseText(idText, refused), isAsciiId(idText)),
    close: connection === "close",
  };
}

/** The same as a problem document (RFC 9457), where nothing says that the request was meant to be JSON-RPC. */
export function answerProblem(refused: Refusal, requestId?: string): Reply {
  const problem = problemDocument({ condition: refused.refused, detail: refused.message, requestId });
  const { Connection: connection, ...headers } = refused.headers ?? {};
  return {
    status: problem.status,
    contentType: problemType,
    headers,
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
