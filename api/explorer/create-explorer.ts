import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { isRefusal } from "../../lib/http-service/refusal.ts";
import type { Refuse } from "../../lib/http-service/send-problem.ts";
import { chooseLanguage, rememberLanguage } from "../../lib/web/choose-language.ts";
import type { Language } from "../../lib/web/languages.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { AnswerCache, FinishedAnswer } from "../rest/answer-cache.ts";
import type { Charge } from "../rest/charge.ts";
import { matchesEtag } from "../rest/etag.ts";
import { accountAddress } from "../rest/parameters.ts";
import type { RouteAnswer } from "../rest/route.ts";
import { addFiles } from "./files.ts";
import { frame } from "./frame.ts";
import type { PageSettings } from "./page.ts";
import type { PageRoute } from "./page-route.ts";
import { explorerHeaders, pageType } from "./page-type.ts";
import { qrOf } from "./pages/address.ts";
import { createPlaceOf, type PlaceOf } from "./place-of.ts";
import { createErrorPages } from "./send-error-pages.ts";

const headCacheControl = "private, max-age=1";
const yearSeconds = 31_536_000;
/** Room for a contract's arguments; a list of a hundred addresses fits. */
const urlLengthMax = 8192;

export type ExplorerOptions = {
  pages: readonly PageRoute[];
  read: ReadModel;
  cache: AnswerCache;
  charge: Charge;
  settings: PageSettings;
  /** Whether the chain or the index is away, as this error says; undefined for an error of our own. */
  explain: (error: unknown) => unknown;
  logger: Pick<Logger, "error">;
  now: () => number;
};

export type Explorer = {
  addTo(app: FastifyInstance): void;
  /** Answers what the service refuses. */
  refuse: Refuse;
  /** Where a page is and what it is made with, for pages of others in the same frame. */
  placeOf: PlaceOf;
};

/**
 * The explorer: its pages, their files, and a page for each path that nobody has. A page costs as much as a request
 * of REST v1 and is made once a head and language for everybody who asks.
 */
export function createExplorer(options: ExplorerOptions): Explorer {
  const { pages, read, cache, charge, settings, explain, logger, now } = options;
  const placeOf = createPlaceOf({ read, settings, now });
  const errors = createErrorPages({ placeOf, explain, logger });

  async function handle(row: PageRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (request.url.length > urlLengthMax) return errors.sendTooLong(request, reply, urlLengthMax);
    const { language, chosen } = chooseLanguage(request);
    if (chosen) reply.header("Set-Cookie", rememberLanguage(language));
    reply.headers(explorerHeaders);
    const key = `page ${language} ${request.url}`;
    const kept = cache.peek(key);
    const isUnchanged = ({ status, etag }: FinishedAnswer) =>
      status === 200 && matchesEtag(request.headers["if-none-match"], etag);
    if (kept !== undefined && isUnchanged(kept)) return sendHead(reply, kept).code(304).send();
    const charged = await charge({ request, reply, cost: row.cost(request.query) });
    if (isRefusal(charged)) return errors.sendLimited(request, reply, charged);
    try {
      const answer = kept ?? (await cache.answer(key, () => make(row, { request, language })));
      if (isRefusal(answer)) return errors.refuse({ request, reply, refused: answer });
      if (isUnchanged(answer)) return sendHead(reply, answer).code(304).send();
      return sendHead(reply, answer).code(answer.status).send(answer.body);
    } catch (error) {
      return errors.sendFailure(request, reply, error);
    }
  }

  async function make(
    row: PageRoute,
    { request, language }: { request: FastifyRequest; language: Language },
  ): Promise<RouteAnswer> {
    const { context, ...place } = placeOf(request, language);
    const page = await row.answer(context, { params: request.params, query: request.query });
    if ("redirect" in page) {
      return {
        text: "",
        type: pageType,
        cache: "head",
        status: 303,
        location: `${place.root}${page.redirect}`,
      };
    }
    const text = frame(context, { ...place, page, entry: row.entry });
    const { status = 200, lasting = false } = page;
    return { text, type: pageType, status, cache: lasting ? "release" : "head" };
  }

  return {
    refuse: errors.refuse,
    placeOf,
    addTo(app) {
      for (const row of pages) app.get(row.path, (request, reply) => handle(row, request, reply));

      app.get<{ Params: { address: string } }>("/address/:address/qr.svg", async (request, reply) => {
        const account = accountAddress.safeParse(request.params.address);
        if (!account.success) return errors.sendMissing(request, reply);
        const charged = await charge({ request, reply, cost: 1 });
        if (isRefusal(charged)) return errors.sendLimited(request, reply, charged);
        return reply
          .header("Cache-Control", `public, max-age=${yearSeconds}, immutable`)
          .type("image/svg+xml")
          .send(qrOf(account.data));
      });

      addFiles(app);
    },
  };
}

function sendHead(reply: FastifyReply, { status, etag, location }: FinishedAnswer): FastifyReply {
  if (location !== undefined) reply.header("Location", location);
  if (status !== 200) return reply.header("Cache-Control", "no-store");
  return reply.headers({ ETag: etag, "Cache-Control": headCacheControl });
}
