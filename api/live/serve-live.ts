import type { FastifyInstance } from "fastify";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import { limitAddress } from "../../lib/http-service/client-address.ts";
import { isRefusal, refusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import { addressOf, type Charge } from "../rest/charge.ts";
import type { LiveFeed } from "./live-feed.ts";

const later = { retryAfterMs: 10_000 };
const refusals = {
  "too many": refusal("rate_limited", "As many clients of this address listen as it may have", later),
  full: refusal("service_unavailable", "As many clients listen as this process serves", later),
  stopping: refusal("service_unavailable", "This process is stopping", { retryAfterMs: 1000 }),
} as const;

/** `GET /api/v1/live`: new blocks as server-sent events. Connecting costs one request. */
export function serveLive(
  app: FastifyInstance,
  { feed, charge, clientAddress }: { feed: LiveFeed; charge: Charge; clientAddress: ClientAddress },
): void {
  app.get("/api/v1/live", { exposeHeadRoute: false }, async (request, reply) => {
    const charged = await charge({ request, reply, cost: 1 });
    if (isRefusal(charged)) return sendProblem({ request, reply, refused: charged });
    const { "last-event-id": lastEventId } = request.headers;
    const address = limitAddress(addressOf(request, clientAddress));
    const standing = feed.standing(address);
    if (standing !== "free") return sendProblem({ request, reply, refused: refusals[standing] });
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
    feed.add({
      response: reply.raw,
      address,
      lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
    });
    return reply;
  });
}

function headersOf(headers: Readonly<Record<string, number | string | string[] | undefined>>) {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}
