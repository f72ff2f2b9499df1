import type { FastifyRequest } from "fastify";
import type { ClientAddress } from "../../lib/http-service/client-address.ts";
import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import type { ClaimScope } from "../claims/admission.ts";

const teamPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** In whose name a claim is made, for the public listener and for the private one. */
export function createScopes({
  clientAddress,
  limitAddress,
}: {
  clientAddress: ClientAddress;
  limitAddress: (address: string) => string;
}) {
  return {
    /** The client by its address; no header but those of trusted proxies has a say. */
    ofClient({ socket, headers }: FastifyRequest): ClaimScope {
      const forwarded = headers["x-forwarded-for"];
      const address = clientAddress.of({
        peer: socket.remoteAddress ?? "",
        forwardedFor: Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
      });
      return { kind: "client", name: limitAddress(address) };
    },

    /** The team that a gateway names. */
    ofTeam({ headers }: FastifyRequest): ClaimScope | Refusal {
      const team = headers["x-tollgate-team"];
      if (typeof team === "string" && teamPattern.test(team)) return { kind: "team", name: team };
      return refusal("invalid_params", "This listener is for gateways, which name a team in X-Tollgate-Team");
    },
  };
}
