import type { FoundKey } from "../../lib/keys/key-reader.ts";
import type { AnswerHold } from "../answer-budget/answer-budget.ts";
import { readableId } from "../json-rpc/readable-id.ts";
import { isRefusal, type Refusal } from "../json-rpc/refusal.ts";
import { andThen, guarded } from "../maybe-promise.ts";
import type { Call } from "../methods/call.ts";
import type { GatewayMetrics } from "../metrics.ts";
import type { Exchange } from "../server/exchange.ts";
import type { FrameCaller } from "../subscriptions/answer-subscription.ts";
import type { AnnouncedHead } from "../upstream/announced-head.ts";
import type { CallOutcome } from "./call-outcome.ts";
import type { OwnCall } from "./own-methods.ts";
import { createQaTrace, type QaTrace } from "./qa-trace.ts";
import type { RequestContext, Route } from "./request-context.ts";
import { clientGone, overloaded, rpcErrorResponse } from "./response.ts";
import { answer } from "./stages/answer.ts";
import { atHead } from "./stages/at-head.ts";
import { authenticate, checkPermission, findByHash } from "./stages/authenticate.ts";
import { authorize } from "./stages/authorize.ts";
import { boundTrace } from "./stages/bound-trace.ts";
import { type Charged, charge, chargeRefusal } from "./stages/charge.ts";
import { checkOrigin } from "./stages/check-origin.ts";
import { checkTransaction } from "./stages/check-transaction.ts";
import { forward } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { checkRequest, isFresh, read } from "./stages/read.ts";

/*
 * JSON-RPC, from a request's head to its answer. The functions of this file follow each other as the stages do:
 *
 *   answerCalls       check the head, authenticate, check the permission and the origin
 *   readCalls         read the body
 *   answerBody        parse; for each call authorize, check a transaction, bound a trace, put it at the head; charge
 *   forwardCalls      forward, answer
 *
 * `answerFrameCalls` is where a message of a WebSocket comes in.
 */

/** Whose calls these are, and how they may be answered. */
type Client = {
  key: FoundKey;
  /** The WebSocket that the calls came over; undefined over HTTP. */
  caller: FrameCaller | undefined;
  /** The client wants no cached answers. */
  isFresh: boolean;
  /** An answer may go out in pieces. */
  mayStream: boolean;
};

export const answerCalls: Route = (exchange, context) => {
  const { deps, respond, fail } = context;
  const { limits } = deps;
  const { head } = exchange;
  const malformed = checkRequest(head, limits);
  const found = authenticate(exchange, deps);
  // A key that has to be looked up may be good, so its body is kept. That of a request without a key is not.
  if (found instanceof Promise && malformed === undefined && head.apiKey !== undefined) exchange.hold(limits);
  const strangersId = found instanceof Promise ? idOf(exchange, context) : undefined;
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) {
      return respond(rpcErrorResponse(malformed ?? key, strangersId ?? idOf(exchange, context)));
    }
    exchange.prove();
    if (malformed !== undefined) return refuseCharged(malformed, { key }, context);
    const refused = checkPermission(key, "rpc") ?? checkOrigin(head, key);
    if (refused !== undefined) {
      return refuseCharged(refused, { key, idText: idOf(exchange, context) }, context);
    }
    readCalls(exchange, key, context);
  };
  andThen(found, onKey, fail);
};

function readCalls(exchange: Exchange, key: FoundKey, context: RequestContext): void {
  const { limits } = context.deps;
  const { head } = exchange;
  const onBody = (body: Uint8Array | Refusal | "aborted") => {
    if (body === "aborted") return context.respond(clientGone);
    if (isRefusal(body)) return refuseCharged(body, { key }, context);
    if (!context.enter())
      return refuseCharged(overloaded, { key, idText: readableId(body, limits) }, context);
    // Nothing may be read behind a body in chunks, and a stream has the library read on.
    const mayStream = head.transferEncodings === undefined;
    answerBody(body, { key, caller: undefined, isFresh: isFresh(head), mayStream }, context);
  };
  read(exchange, { limits, keyId: key.id }, guarded(onBody, context.fail));
}

/** A message of a WebSocket. Its key may have changed since the socket was opened. */
export function answerFrameCalls(
  frame: Uint8Array,
  { keyHash, caller }: { keyHash: string; caller: FrameCaller },
  context: RequestContext,
): void {
  const { deps, respond, enter, fail } = context;
  const onKey = (key: FoundKey | Refusal) => {
    if (isRefusal(key)) respond(rpcErrorResponse(key, readableId(frame, deps.limits)));
    else if (!enter()) respond(rpcErrorResponse(overloaded, readableId(frame, deps.limits), key.id));
    else answerBody(frame, { key, caller, isFresh: false, mayStream: false }, context);
  };
  andThen(findByHash(keyHash, deps), onKey, fail);
}

function answerBody(body: Uint8Array, client: Client, context: RequestContext): void {
  const { limits, limiter, methods, upstream, traceBounds, monotonicMs } = context.deps;
  const { key } = client;
  const request = parse(body, limits);
  if (isRefusal(request)) {
    refuseCharged(request, { key, idText: request.idText, bytes: body.length }, context);
    return;
  }
  const head = upstream.head();
  const { permissions } = key;
  const transactions = { bytesMax: limits.transactionBytesMax };
  const calls = request.calls.map((scanned) => {
    const authorized = authorize(scanned, { key, methods });
    const checked = checkTransaction(authorized, transactions);
    const bounded = boundTrace(checked, { bounds: traceBounds });
    return atHead(bounded, { head, permissions });
  });
  const trace = key.qa && client.caller === undefined ? createQaTrace({ monotonicMs }) : undefined;
  const { isBatch } = request;
  const charged = charge(calls, { key, limiter, requestsPerMinute: limits.requestsPerMinute });
  const onCharged = (result: Charged) => forwardCalls(result, { client, isBatch, head, trace }, context);
  andThen(charged, onCharged, context.fail);
}

function forwardCalls(
  { calls, headers }: Charged,
  {
    client,
    isBatch,
    head,
    trace,
  }: { client: Client; isBatch: boolean; head: AnnouncedHead | undefined; trace: QaTrace | undefined },
  context: RequestContext,
): void {
  const { deps, respond, fail } = context;
  const { key } = client;
  const [only] = calls;
  if (!isBatch && only?.kind === "refused" && only.refusal.refused === "rate_limited") {
    respond(rpcErrorResponse({ ...only.refusal, headers }, only.idText, key.id));
    return;
  }
  trace?.charged();
  // A message of a WebSocket goes out whole, so that others can follow it. Nobody reads the answer to a notification.
  const mayStream = client.mayStream && !isBatch && only?.idText !== undefined;
  const forwarding = {
    answerBudget: deps.answerBudget,
    cache: deps.cache,
    deadly: deps.deadly,
    checkTraceGas: deps.checkTraceGas,
    reach: deps.upstream.reach,
    whyNoneCounts: deps.upstream.whyNoneCounts,
    options: { group: key.id, mayStream, head, isFresh: client.isFresh },
    answerOurselves: (call: OwnCall) => deps.answerOwnMethod(call, client),
    trace,
  };
  const onOutcomes = (outcomes: readonly CallOutcome[], hold: AnswerHold | undefined) => {
    try {
      count(calls, outcomes, deps.metrics);
      const all = trace === undefined ? headers : { ...headers, ...trace.headers(outcomes) };
      const reply = answer({ isBatch, calls, outcomes, headers: all, isLong: hold !== undefined });
      if (hold !== undefined) reply.release = hold.release;
      respond({ reply, keyId: key.id });
    } catch (error) {
      hold?.release();
      fail(error);
    }
  };
  forward(calls, forwarding, onOutcomes);
}

/** The id of a request that is refused before its body is read, if that has come with the head. */
function idOf(exchange: Exchange, { deps }: RequestContext): string {
  const body = exchange.arrivedBody();
  return body === undefined ? "null" : readableId(body, deps.limits);
}

/** A request that is refused as a whole, but with a good key, costs as a call does. `bytes`: what was read of it. */
function refuseCharged(
  refused: Refusal,
  { key, idText = "null", bytes = 0 }: { key: FoundKey; idText?: string; bytes?: number },
  { deps, respond, fail }: RequestContext,
): void {
  const onCharged = (why: Refusal) => respond(rpcErrorResponse(why, idText, key.id));
  andThen(chargeRefusal(refused, { idText, bytes }, key, deps), onCharged, fail);
}

function count(
  calls: readonly Call[],
  outcomes: readonly CallOutcome[],
  { calls: carriedOut, refusals }: GatewayMetrics,
): void {
  for (const call of calls) if (call.kind === "forward") carriedOut.inc(call.rule.name);
  for (const outcome of outcomes) if (isRefusal(outcome)) refusals.inc(outcome.refused);
}
