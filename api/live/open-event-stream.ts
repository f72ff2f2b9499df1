import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";

/** A stream of events for one client, which has no end of its own. */
export type EventStream = {
  /** Why it is not begun; asked at the same moment as it is begun, so that bounds are exact. */
  refused(): Refusal | undefined;
  /** Takes the client in, whose head was written. */
  begin(response: ServerResponse): void;
};

const later = { retryAfterMs: 10_000 };

/** Why there is no room for one more stream. */
export const streamRefusals = {
  "too many": refusal("rate_limited", "As many clients of this address listen as it may have", later),
  full: refusal("service_unavailable", "As many clients listen as this process serves", later),
  stopping: refusal("service_unavailable", "This process is stopping", { retryAfterMs: 1000 }),
} as const;

/** Begins server-sent events (WHATWG HTML 9.2) with what the reply's headers say; from here on nothing but events can be sent. */
export function openEventStream(request: FastifyRequest, reply: FastifyReply): ServerResponse {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...headersOf(reply.getHeaders()),
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": request.id,
    // nginx would hold events back until its buffer is full.
    "X-Accel-Buffering": "no",
  });
  return reply.raw;
}

function headersOf(headers: Readonly<Record<string, number | string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}
