import { errorTable } from "../../../lib/errors.ts";
import { problemDocument, problemType } from "../../../lib/http-service/problem.ts";
import type { PiecedBody } from "../../answer-budget/answer-chunks.ts";
import type { Answer, ByteText } from "../../json-rpc/answer.ts";
import { isRefusal, type Refusal, rpcErrorText } from "../../json-rpc/refusal.ts";
import type { Call } from "../../methods/call.ts";
import type { Reply, StreamedBody } from "../../server/exchange.ts";
import { isStreamed, type StreamedAnswer } from "../../upstream/upstream-result.ts";
import type { CallOutcome } from "../call-outcome.ts";

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
  isLong,
}: {
  isBatch: boolean;
  calls: readonly Call[];
  outcomes: readonly CallOutcome[];
  /** Headers of the HTTP answer besides its type. */
  headers: Readonly<Record<string, string>>;
  /** Long answers go out in pieces. */
  isLong: boolean;
}): Reply {
  const [first] = outcomes;
  const firstId = calls[0]?.idText;
  if (first !== undefined && isStreamed(first) && firstId !== undefined) {
    return { status: 200, contentType: json, headers, body: streamedBody(first, firstId) };
  }
  const refused = refusalOfAll(isBatch, outcomes);
  const status = refused === undefined ? 200 : errorTable[refused.refused].status;
  let all = refused === undefined ? headers : { ...headers, ...refused.headers };
  if (isLong && calls.some(({ idText }) => idText !== undefined)) {
    for (const outcome of outcomes) if (isRefusal(outcome)) all = { ...outcome.headers, ...all };
    return { status, contentType: json, headers: all, body: piecedBody(isBatch, calls, outcomes) };
  }
  let text = "";
  let isAscii = true;
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index];
    const idText = calls[index]?.idText;
    if (outcome === undefined || idText === undefined || isStreamed(outcome)) continue;
    if (text !== "") text += ",";
    text += responseText(idText, outcome);
    const isOurs = isRefusal(outcome);
    isAscii &&= isAsciiId(idText) && (isOurs || outcome.isAscii);
    // Retry-After of a call that was refused in a batch; that of the key's limit is the longer one.
    if (isOurs && outcome.headers !== undefined) all = { ...outcome.headers, ...all };
  }
  if (text === "") {
    // Notifications have no answers, but one that failed must not look as if it had been carried out.
    return refused !== undefined
      ? answerRefusal({ ...refused, headers: all }, "null")
      : { status: 204, headers: all, body: undefined };
  }
  return { status, contentType: json, headers: all, body: bodyOf(isBatch ? `[${text}]` : text, isAscii) };
}

/** The same response objects without ever being one text. */
function piecedBody(isBatch: boolean, calls: readonly Call[], outcomes: readonly CallOutcome[]): PiecedBody {
  const pieces: ByteText[] = [];
  let bytes = 0;
  let text = isBatch ? "[" : "";
  let separator = "";
  const add = (piece: ByteText) => {
    pieces.push(piece);
    bytes += piece.length;
  };
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index];
    const idText = calls[index]?.idText;
    if (outcome === undefined || idText === undefined || isStreamed(outcome)) continue;
    if (isRefusal(outcome)) text += separator + responseText(idText, outcome);
    else {
      add(text + separator + outcome.beforeId + idText);
      add(outcome.afterId);
      text = "";
    }
    separator = isBatch ? "," : "";
  }
  add(isBatch ? `${text}]` : text);
  return { pieces, bytes };
}

/**
 * The refusal whose HTTP status is that of the whole answer, for load balancers and clients that look no further: no
 * validator answered any call, or the only call was refused with headers.
 */
function refusalOfAll(isBatch: boolean, outcomes: readonly CallOutcome[]): Refusal | undefined {
  const [first] = outcomes;
  if (first === undefined || !isRefusal(first)) return undefined;
  if (outcomes.every(isUnavailable)) return { ...first, headers: { "Retry-After": "1" } };
  return isBatch || first.headers === undefined ? undefined : first;
}

function isUnavailable(outcome: CallOutcome): boolean {
  return isRefusal(outcome) && errorTable[outcome.refused].code === "upstream_unavailable";
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

/** The same as a problem document (RFC 9457), for a request that does not look like JSON-RPC. */
export function answerProblem(refused: Refusal, requestId: string): Reply {
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

/** A response object (JSON-RPC 2.0 section 5) as bytes, one a character. Messages of ours are ASCII. */
function responseText(idText: string, outcome: Answer | Refusal): string {
  return isRefusal(outcome)
    ? `{"jsonrpc":"2.0","id":${idText},"error":${rpcErrorText(outcome)}}`
    : outcome.beforeId + idText + outcome.afterId;
}
