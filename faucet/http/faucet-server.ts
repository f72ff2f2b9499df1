import { randomUUID } from "node:crypto";
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from "fastify";
import type { Logger } from "pino";
import { errorTable } from "../../lib/errors.ts";
import { createIsOwnHost, notOwnHost } from "../../lib/http-service/own-host.ts";
import { isRedisFailure } from "../../lib/redis/redis-failure.ts";
import type { Admission, ClaimScope } from "../claims/admission.ts";
import { claimIdPattern } from "../claims/claim.ts";
import type { Page } from "../page/page.ts";
import { isRefusal, type Refusal, refusal } from "../refusal.ts";
import type { TakeClaim } from "../take-claim.ts";
import { answerUnreadable } from "./answer-unreadable.ts";
import { claimView } from "./claim-view.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import { encodedBody, formType, isEncoded, isForm, readBody, wrongType } from "./read-body.ts";
import { addCommonHeaders, sendRefusal, wantsPage } from "./send-refusal.ts";

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
  windowMs: number;
  status: () => Promise<object>;
  /** The pages for people; a listener for machines has none. */
  page: Page | undefined;
  logger: Logger;
};

const lateLookMs = 1000;
/** More than Node takes as headers. */
const pathLengthMax = 65_536;

/**
 * One listener of the faucet: the public one, which serves people too, or the private one for gateways. They differ in
 * `hosts`, `scopeOf` and `page` only.
 * @throws Error where the port is taken.
 */
export async function startFaucetServer(options: FaucetServerOptions): Promise<FaucetServer> {
  const app = createApp(options);
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (cause) {
    throw new Error(`${options.host}:${options.port} cannot be listened on`, { cause });
  }
  const address = app.server.address();
  return {
    host: options.host,
    port: typeof address === "object" && address !== null ? address.port : options.port,
    stop: () => app.close(),
  };
}

function createApp(options: FaucetServerOptions): FastifyInstance {
  const { bodyBytesMax, requestTimeoutMs, page, logger, status, admission } = options;
  const app = fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    // Node looks for late requests every 30 s and gives headers 60 s, unless it is told otherwise.
    http: { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: lateLookMs },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    // A claim's id of any length is one that there is not.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathLengthMax },
    frameworkErrors(_error, request, reply) {
      // No hook runs for these.
      addCommonHeaders(request, reply);
      void sendRefusal({ request, reply, page, refused: unreadable });
    },
    clientErrorHandler: answerUnreadable,
  });
  app.removeAllContentTypeParsers();
  for (const type of ["application/json", formType]) {
    app.addContentTypeParser(type, { parseAs: "string" }, (_request, text, done) => done(null, text));
  }
  if (options.hosts !== undefined) {
    const isOwnHost = createIsOwnHost({ hosts: options.hosts });
    app.addHook("onRequest", async (request, reply) => {
      if (!isOwnHost(request.raw)) return sendRefusal({ request, reply, page, refused: foreignHost });
    });
  }
  app.addHook("onSend", async (request, reply) => addCommonHeaders(request, reply));
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const known = knownErrors[error.code];
    if (known !== undefined) return sendRefusal({ request, reply, page, refused: known(bodyBytesMax) });
    if (isRedisFailure(error)) return sendRefusal({ request, reply, page, refused: away });
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return sendRefusal({ request, reply, page, refused: unreadable });
    }
    logger.error({ err: error, requestId: request.id }, "a request failed");
    return sendRefusal({ request, reply, page, refused: internal });
  });
  app.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?", 1);
    const allowed = allowedMethods({ path, hasPage: page !== undefined });
    if (allowed !== undefined) reply.header("Allow", allowed);
    const refused =
      allowed === undefined
        ? refusal("not_found", "There is nothing here")
        : refusal("method_not_allowed", `This takes ${allowed} only`);
    return sendRefusal({ request, reply, page, refused });
  });

  app.post("/claim", (request, reply) => handleClaim({ options, request, reply }));
  app.get<{ Params: { id: string } }>("/claims/:id", async (request, reply) => {
    const { id } = request.params;
    const claim = claimIdPattern.test(id) ? await admission.find(id) : undefined;
    if (claim === undefined) {
      return sendRefusal({ request, reply, page, refused: refusal("not_found", "There is no such claim") });
    }
    reply.header("Vary", "Accept");
    if (page !== undefined && wantsPage(request)) {
      return page.send(reply, await page.renderClaim(claimView(claim)));
    }
    return reply.send({ claim: claimView(claim) });
  });
  app.get("/status", async () => status());
  app.get("/health", async () => ({ status: "ok" }));
  page?.addTo(app);
  return app;
}

async function handleClaim({
  options: { scopeOf, takeClaim, windowMs, page },
  request,
  reply,
}: {
  options: FaucetServerOptions;
  request: FastifyRequest;
  reply: FastifyReply;
}): Promise<FastifyReply> {
  const scope = scopeOf(request);
  if (isRefusal(scope)) return sendRefusal({ request, reply, page, refused: scope });
  const contentType = request.headers["content-type"] ?? "";
  const read = isCrossSite(request)
    ? crossSite
    : isEncoded(request.headers["content-encoding"])
      ? encodedBody
      : readBody({ text: request.body, contentType });
  const refuse = (refused: Refusal) =>
    sendRefusal({
      request,
      reply,
      page,
      refused,
      counted: { scope: scope.kind, windowMs },
      typedAddress: isRefusal(read) ? "" : typedAddress(read.body),
    });
  if (isRefusal(read)) return refuse(read);
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
  if (typeof idempotencyKey === "object") return refuse(idempotencyKey);

  const outcome = await takeClaim({ body: read.body, scope, idempotencyKey, requestId: request.id });
  if (isRefusal(outcome)) return refuse(outcome);
  reply.headers(rateLimitHeaders({ standings: outcome.standings, scope: scope.kind, windowMs }));
  const location = `/claims/${outcome.claim.id}`;
  // A form's answer is a page of its own, so that loading it again claims nothing.
  if (page !== undefined && isForm(contentType)) return reply.redirect(location, 303);
  return reply
    .code(202)
    .header("Location", location)
    .send({ claim: claimView(outcome.claim) });
}

/** What was typed into the form, so that nobody has to type it a second time. */
function typedAddress(body: unknown): string {
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

function allowedMethods({ path, hasPage }: { path: string; hasPage: boolean }): string | undefined {
  if (path === "/claim") return "POST";
  if (path === "/") return hasPage ? "GET, HEAD" : undefined;
  const known = ["/status", "/health"].includes(path) || /^\/claims\/[^/]+$/.test(path);
  return known ? "GET, HEAD" : undefined;
}

const away = refusal(
  "service_unavailable",
  "The faucet cannot look that up at the moment; try again shortly",
  {
    retryAfterMs: 1000,
  },
);
const internal = refusal("internal_error", "Something went wrong on our side");
const foreignHost = refusal("forbidden", `${notOwnHost} (private.hosts)`);
const unreadable = refusal("invalid_params", "The request cannot be read");
const crossSite = refusal("forbidden", "Forms of other sites cannot claim; use the faucet's own page");

/** What Fastify itself refuses before a handler runs, by its error code. */
const knownErrors: Readonly<Record<string, (bodyBytesMax: number) => Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (most) =>
    refusal("body_too_large", `${errorTable.body_too_large.meaning}: at most ${most} bytes`),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => wrongType,
};
