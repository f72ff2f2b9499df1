import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { type ClientAddress, limitAddress } from "../../../lib/http-service/client-address.ts";
import { isRefusal, refusal } from "../../../lib/http-service/refusal.ts";
import { sendProblem } from "../../../lib/http-service/send-problem.ts";
import { openEventStream, streamRefusals } from "../../live/open-event-stream.ts";
import { addressOf, type Charge } from "../../rest/charge.ts";
import type { Checkout } from "./customer-invoice.ts";
import { isFinal, type PaymentStreams, versionOf } from "./payment-streams.ts";

const asked = z.object({ seen: z.string().max(80).optional() }).catch({});
const noSuchLink = refusal("not_found", "There is no such payment link");

/**
 * `GET /pay/:token/events`: what becomes of a payment, as server-sent events. `seen` is the version that the page shows; a browser that
 * comes back says it by `Last-Event-ID`. Where nothing can follow the answer is 204, at which a browser does not come back.
 */
export function servePaymentEvents(
  app: FastifyInstance,
  {
    checkout,
    streams,
    charge,
    clientAddress,
  }: {
    checkout: Pick<Checkout, "findByToken">;
    streams: PaymentStreams;
    charge: Charge;
    clientAddress: ClientAddress;
  },
): void {
  app.get<{ Params: { token: string } }>(
    "/pay/:token/events",
    { exposeHeadRoute: false },
    async (request, reply) => {
      const charged = await charge({ request, reply, cost: 1 });
      if (isRefusal(charged)) return sendProblem({ request, reply, refused: charged });
      const invoice = await checkout.findByToken(request.params.token);
      if (invoice === undefined) return sendProblem({ request, reply, refused: noSuchLink });
      const { "last-event-id": last } = request.headers;
      const seen = (Array.isArray(last) ? last[0] : last) ?? asked.parse(request.query).seen ?? "";
      if (isFinal(invoice) && seen === versionOf(invoice)) return reply.code(204).send();
      const address = limitAddress(addressOf(request, clientAddress));
      // Nothing is waited for from here to the listener's place: the bounds are exact.
      const standing = streams.standing(address);
      if (standing !== "free") return sendProblem({ request, reply, refused: streamRefusals[standing] });
      streams.add({ response: openEventStream(request, reply), address, invoice, seen });
      return reply;
    },
  );
}
