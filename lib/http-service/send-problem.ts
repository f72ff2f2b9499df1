import type { FastifyReply, FastifyRequest } from "fastify";
import { type ProblemDocument, problemDocument, problemType } from "./problem.ts";
import { rateLimitFields, seconds } from "./rate-limit-fields.ts";
import type { Refusal } from "./refusal.ts";

/** Answers a request with a refusal. */
export type Refuse = (answering: {
  request: FastifyRequest;
  reply: FastifyReply;
  refused: Refusal;
}) => Promise<FastifyReply>;

/** Answers with a problem document (RFC 9457). */
export const sendProblem: Refuse = async ({ request, reply, refused }) => {
  return sendProblemDocument(reply, prepareRefusal({ request, reply, refused }));
};

/** Sets what every refusal has, status and fields, and makes its document. */
export function prepareRefusal({
  request,
  reply,
  refused: { refused: condition, detail, errors, retryAfterMs, limits, members, headers },
}: {
  request: FastifyRequest;
  reply: FastifyReply;
  refused: Refusal;
}): ProblemDocument {
  const problem = problemDocument({ condition, detail, errors, requestId: request.id });
  reply.code(problem.status);
  if (headers !== undefined) reply.headers(headers);
  if (retryAfterMs !== undefined) reply.header("Retry-After", seconds(retryAfterMs));
  if (limits !== undefined) reply.headers(rateLimitFields(limits));
  return { ...members, ...problem };
}

export function sendProblemDocument(reply: FastifyReply, problem: ProblemDocument): FastifyReply {
  // As bytes: Fastify adds a charset to a text's type, which this type has none of (RFC 9457 section 6.1).
  return reply.header("Content-Type", problemType).send(Buffer.from(JSON.stringify(problem)));
}
