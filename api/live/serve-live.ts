import type { FastifyInstance } from "fastify";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import { limitAddress } from "../../lib/http-service/client-address.ts";
import { isRefusal } from "../../lib/http-service/refusal.ts";
import { sendProblem } from "../../lib/http-service/send-problem.ts";
import { addressOf, type Charge } from "../rest/charge.ts";
import type { LiveFeed } from "./live-feed.ts";
import { openEventStream, streamRefusals } from "./open-event-stream.ts";

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
    if (standing !== "free") return sendProblem({ request, reply, refused: streamRefusals[standing] });
    feed.add({
      response: openEventStream(request, reply),
      address,
      lastEventId: Array.isArray(lastEventId) ? lastEventId[0] : lastEventId,
    });
    return reply;
  });
}
