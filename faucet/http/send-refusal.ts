import type { FastifyReply, FastifyRequest } from "fastify";
import { problemDocument, problemType } from "../../lib/http-service/problem.ts";
import type { ClaimScope } from "../claims/admission.ts";
import type { Page } from "../page/page.ts";
import type { Refusal } from "../refusal.ts";
import { rateLimitHeaders, seconds } from "./rate-limit-headers.ts";

/** What every answer has. */
export function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ "X-Content-Type-Options": "nosniff", "X-Request-Id": request.id });
  if (!reply.hasHeader("Cache-Control")) reply.header("Cache-Control", "no-store");
}

/** Answers with a problem document, or with the page for a person. */
export async function sendRefusal({
  request,
  reply,
  page,
  refused: { refused: condition, detail, errors, retryAfterMs, standings },
  counted,
  typedAddress = "",
}: {
  request: FastifyRequest;
  reply: FastifyReply;
  page: Page | undefined;
  refused: Refusal;
  /** Whose limits `standings` tells of. */
  counted?: { scope: ClaimScope["kind"]; windowMs: number };
  /** What a form was filled in with. */
  typedAddress?: string;
}): Promise<FastifyReply> {
  const problem = problemDocument({ condition, detail, errors, requestId: request.id });
  reply.code(problem.status);
  if (retryAfterMs !== undefined) reply.header("Retry-After", seconds(retryAfterMs));
  if (standings !== undefined && counted !== undefined) {
    reply.headers(rateLimitHeaders({ standings, ...counted }));
  }
  if (page !== undefined && wantsPage(request)) {
    const text = await page
      .renderRefusal({ problem, address: typedAddress, retryAfterMs })
      .catch(() => undefined);
    if (text !== undefined) return page.send(reply, text);
    // The page tells how the faucet stands, which Redis has to tell it: without it the plain document has to do.
  }
  // As bytes, since Fastify adds a charset to a text's type, which this type has none of (RFC 9457 section 6.1).
  return reply.header("Content-Type", problemType).send(Buffer.from(JSON.stringify(problem)));
}

/** Browsers name HTML first, when a person follows a link or sends a form; programs and our own script do not. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.split(",", 1)[0]?.trim().startsWith("text/html") === true;
}
