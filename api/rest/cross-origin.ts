import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** What a page may read of an answer, beside what it always may. */
const exposed = "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
/** Browsers remember a preflight for so long (Chromium 2 hours at most, Firefox a day). */
const preflightSeconds = 7200;

/**
 * Which pages may read the API (Fetch standard, CORS protocol): those of the configured origins, or in development of
 * any. Credentials are never allowed: a page of another origin signs in with a bearer token, not with the cookie.
 */
export function allowOrigins(
  app: FastifyInstance,
  {
    origins,
    openPaths = [],
  }: {
    /** Asked for each request. */
    origins: () => readonly string[] | "any";
    /** For pages of any origin, whatever the rest is. */
    openPaths?: readonly string[];
  },
): void {
  const isAllowed = ({ url }: FastifyRequest, origin: string): boolean => {
    const allowed = origins();
    return (
      allowed === "any" || allowed.includes(origin) || openPaths.includes(url.replace(/\/?(?:\?.*)?$/, ""))
    );
  };

  app.addHook("onRequest", (request, reply, done) => {
    // Also where there is no Origin: a shared cache would give the answer to a page as well.
    reply.header("Vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined) return done();
    if (isAllowed(request, origin)) {
      reply.headers({ "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed });
    }
    if (isPreflight(request)) return void answerPreflight(reply);
    done();
  });
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && "access-control-request-method" in headers;
}

function answerPreflight(reply: FastifyReply): FastifyReply {
  if (reply.hasHeader("Access-Control-Allow-Origin")) {
    reply.headers({
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
      "Access-Control-Allow-Headers":
        "Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Api-Key, X-Svc-Dev-Key",
      "Access-Control-Max-Age": String(preflightSeconds),
    });
  }
  return reply.code(204).send();
}
