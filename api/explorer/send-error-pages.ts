import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Refusal } from "../../lib/http-service/refusal.ts";
import { type Refuse, sendProblem } from "../../lib/http-service/send-problem.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import { chooseLanguage } from "../../lib/web/choose-language.ts";
import { awayPage, errorPage, missingPage } from "./error-pages.ts";
import { frame } from "./frame.ts";
import type { Page, PageContext } from "./page.ts";
import { explorerHeaders } from "./page-type.ts";
import type { PlaceOf } from "./place-of.ts";

type SendError = (
  request: FastifyRequest,
  reply: FastifyReply,
  show: (context: PageContext) => Page,
) => FastifyReply;

/** A page that nothing is kept of: an error. */
function createSendError({ placeOf }: { placeOf: PlaceOf }): SendError {
  return (request, reply, show) => {
    const { context, ...place } = placeOf(request, chooseLanguage(request).language);
    const page = show(context);
    return reply
      .headers(explorerHeaders)
      .code(page.status ?? 200)
      .header("Cache-Control", "no-store")
      .send(frame(context, { ...place, page, entry: undefined }));
  };
}

/** What is shown where no page can be. */
export function createErrorPages({
  placeOf,
  explain,
  logger,
}: {
  placeOf: PlaceOf;
  /** Whether the chain or the index is away, as this error says; undefined for an error of our own. */
  explain: (error: unknown) => unknown;
  logger: Pick<Logger, "error">;
}) {
  const sendError = createSendError({ placeOf });

  /** A path that nobody has is a page for people, a problem document for programs; other refusals are documents. */
  const refuse: Refuse = async ({ request, reply, refused }) => {
    const isPage =
      request.method === "GET" && prefersHtml(request.headers.accept) && !isForPrograms(request.url);
    if (isPage && refused.refused === "not_found") return sendError(request, reply, missingPage);
    return sendProblem({ request, reply, refused });
  };

  return {
    refuse,

    sendMissing: (request: FastifyRequest, reply: FastifyReply) => sendError(request, reply, missingPage),

    sendLimited(request: FastifyRequest, reply: FastifyReply, { retryAfterMs = 1000 }: Refusal) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      reply.header("Retry-After", String(seconds));
      return sendError(request, reply, (context) => {
        const { limited, limitedHelp } = context.texts.errors;
        return errorPage(context, { title: limited, help: limitedHelp(seconds), status: 429 });
      });
    },

    sendTooLong: (request: FastifyRequest, reply: FastifyReply, charactersMax: number) =>
      sendError(request, reply, (context) => {
        const { tooLong, tooLongHelp } = context.texts.errors;
        return errorPage(context, { title: tooLong, help: tooLongHelp(charactersMax), status: 414 });
      }),

    sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown) {
      if (explain(error) !== undefined) {
        const what = isPostgresFailure(error) ? "index" : "chain";
        return sendError(request, reply, (context) => awayPage(context, what));
      }
      logger.error({ err: error, requestId: request.id }, "a page failed");
      return sendError(request, reply, (context) => {
        const { internal, internalHelp } = context.texts.errors;
        return errorPage(context, { title: internal, help: internalHelp(request.id), status: 500 });
      });
    },
  };
}

function isForPrograms(url: string): boolean {
  return /^\/(?:api|graphql|health)(?:[/?]|$)/.test(url);
}

/** Browsers name text/html; programs name JSON or take anything. */
function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/html\b/i.test(accept);
}
