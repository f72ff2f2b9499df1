import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { createBodyReader, formType, isForm, jsonType } from "../../lib/http-service/body-reader.ts";
import { createHttpService, listenOn } from "../../lib/http-service/create-http-service.ts";
import { rateLimitFields } from "../../lib/http-service/rate-limit-fields.ts";
import { isRefusal, type Refusal, refusal } from "../../lib/http-service/refusal.ts";
import { isRedisFailure } from "../../lib/redis/redis-failure.ts";
import type { Admission, ClaimScope } from "../claims/admission.ts";
import { claimIdPattern } from "../claims/claim.ts";
import type { Page } from "../page/page.ts";
import type { TakeClaim } from "../take-claim.ts";
import { claimView } from "./claim-view.ts";
import { createSendRefusal, type SendRefusal, wantsPage } from "./send-refusal.ts";

export type FaucetServer = { host: string; port: number; stop(): Promise<void> };

export type FaucetServerOptions = {
  host: string;
  port: number;
  /** Names that it answers to besides loopback and its address; undefined where it is for everybody, by any name. */
  hosts: readonly string[] | undefined;
  bodyBytesMax: number;
  /** For a request to come whole, headers and body. */
  requestTimeoutMs: number;
  /** In whose name a request claims. */
  scopeOf: (request: FastifyRequest) => ClaimScope | Refusal;
  takeClaim: TakeClaim;
  admission: Pick<Admission, "find">;
  status: () => Promise<object>;
  /** The pages for people; a listener for machines has none. */
  page: Page | undefined;
  logger: Logger;
};

/**
 * One listener of the faucet: the public one, which serves people too, or the private one for gateways. They differ in
 * `hosts`, `scopeOf` and `page` only.
 * @throws Error where the port is taken.
 */
export async function startFaucetServer(options: FaucetServerOptions): Promise<FaucetServer> {
  return listenOn(createApp(options), options);
}

const bodies = createBodyReader({ what: "A claim", types: [jsonType, formType] });

function createApp({ hosts, page, status, admission, ...options }: FaucetServerOptions): FastifyInstance {
  const refuse = createSendRefusal({ page });
  const app = createHttpService({
    ...options,
    bodies,
    ownHosts: hosts === undefined ? undefined : { names: hosts, setting: "private.hosts" },
    explain: (error) => (isRedisFailure(error) ? redisAway : undefined),
    refuse,
  });

  const handleClaim = createHandleClaim({ ...options, page, refuse });
  app.post("/claim", (request, reply) => handleClaim(request, reply));
  app.get<{ Params: { id: string } }>("/claims/:id", async (request, reply) => {
    const { id } = request.params;
    const claim = claimIdPattern.test(id) ? await admission.find(id) : undefined;
    if (claim === undefined) {
      return refuse({
        request,
        reply,
        refused: refusal("not_found", "There is no such claim", { reason: "claim_unknown" }),
      });
    }
    if (page !== undefined && wantsPage(request)) return page.sendClaim({ request, reply, claim });
    return reply.header("Vary", "Accept").send({ claim: claimView(claim) });
  });
  app.get("/status", async () => status());
  app.get("/health", async () => ({ status: "ok" }));
  page?.addTo(app);
  return app;
}

function createHandleClaim({
  scopeOf,
  takeClaim,
  page,
  refuse: sendRefusal,
}: Pick<FaucetServerOptions, "scopeOf" | "takeClaim" | "page"> & { refuse: SendRefusal }) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = scopeOf(request);
    if (isRefusal(scope)) return sendRefusal({ request, reply, refused: scope });
    const read = isCrossSite(request) ? crossSite : readClaimBody(request);
    const refuse = (refused: Refusal) =>
      sendRefusal({ request, reply, refused, typedAddress: isRefusal(read) ? "" : addressIn(read.body) });
    if (isRefusal(read)) return refuse(read);
    const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
    if (typeof idempotencyKey === "object") return refuse(idempotencyKey);

    const outcome = await takeClaim({ body: read.body, scope, idempotencyKey, requestId: request.id });
    if (isRefusal(outcome)) return refuse(outcome);
    reply.headers(rateLimitFields(outcome.limits));
    const location = `/claims/${outcome.claim.id}`;
    // A form's answer is a page of its own, so that loading it again claims nothing.
    if (page !== undefined && isForm(request.headers["content-type"])) {
      page.rememberClaim({ request, reply, claim: outcome.claim });
      return reply.redirect(location, 303);
    }
    return reply
      .code(202)
      .header("Location", location)
      .send({ claim: claimView(outcome.claim) });
  };
}

/** Browsers send what was pasted into a form, blanks and all. */
function readClaimBody(request: FastifyRequest): { body: unknown } | Refusal {
  const read = bodies.read(request);
  if (isRefusal(read) || !isForm(request.headers["content-type"])) return read;
  const { body } = read;
  const address = addressIn(body);
  return typeof body === "object" && address !== "" ? { body: { ...body, address: address.trim() } } : read;
}

/** What was typed as the address, so that nobody has to type it a second time. */
function addressIn(body: unknown): string {
  const isObject = typeof body === "object" && body !== null && "address" in body;
  return isObject && typeof body.address === "string" ? body.address : "";
}

/** A page elsewhere could use up its visitors' claims. JSON from there is stopped by CORS, forms are not. */
function isCrossSite({ headers }: FastifyRequest): boolean {
  return headers["sec-fetch-site"] === "cross-site";
}

/** Printable ASCII, as a header can carry it (draft-ietf-httpapi-idempotency-key-header-07 leaves the form open). */
function readIdempotencyKey(header: string | string[] | undefined): string | Refusal | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  return refusal(
    "invalid_params",
    "The Idempotency-Key must be 1 to 255 printable characters without spaces",
  );
}

const redisAway = refusal(
  "service_unavailable",
  "The faucet cannot look that up at the moment; try again shortly",
  { retryAfterMs: 1000 },
);
const crossSite = refusal("forbidden", "Forms of other sites cannot claim; use the faucet's own page");
