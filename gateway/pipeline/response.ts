import { randomUUID } from "node:crypto";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import { withCors } from "../server/cors.ts";
import type { Reply, RequestHead } from "../server/exchange.ts";
import { answerProblem, answerRefusal } from "./stages/answer.ts";

/** A reply, with what metrics and the log say of it. */
export type Response = {
  reply: Reply;
  refused?: Refusal;
  keyId?: string;
  /** The one that the reply names, where it names one. */
  requestId?: string;
};

/** Refuses a JSON-RPC request as a whole: an error object with the request's id. */
export function rpcErrorResponse(refused: Refusal, idText = "null", keyId?: string): Response {
  // Without POST nothing says that the request is JSON-RPC.
  if (refused.refused === "method_not_allowed") return problemResponse(refused, keyId);
  return { reply: answerRefusal(refused, idText), refused, ...(keyId === undefined ? {} : { keyId }) };
}

/** Refuses any other request: a problem document. */
export function problemResponse(refused: Refusal, keyId?: string): Response {
  const requestId = randomUUID();
  const reply = answerProblem(refused, requestId);
  return { reply, refused, requestId, ...(keyId === undefined ? {} : { keyId }) };
}

/** The response to a request that the gateway has not answered when its time for stopping is over. */
export function lateReply({ path, origin }: RequestHead): Reply {
  const { reply } = path === "/" ? rpcErrorResponse(late) : problemResponse(late);
  return origin === undefined ? reply : withCors(reply);
}

/** Nobody reads it: the connection is gone. */
export const clientGone: Response = { reply: { status: 400, headers: {}, body: undefined, close: true } };

export const overloaded = refusal(
  "upstream_unavailable",
  "The gateway has too many requests in flight; try again shortly",
  { headers: { "Retry-After": "1", Connection: "close" } },
);

const late = refusal("service_unavailable", "The gateway is stopping; send the request again", {
  headers: { "Retry-After": "1", Connection: "close" },
});
