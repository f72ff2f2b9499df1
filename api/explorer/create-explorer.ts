import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { type Refuse, sendProblem } from "../../lib/http-service/send-problem.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import { chooseLanguage, languageVary, rememberLanguage } from "../../lib/web/choose-language.ts";
import type { Language } from "../../lib/web/languages.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";
import { readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";
import type { ReadModel } from "../read/read-model.ts";
import type { AnswerCache, FinishedAnswer } from "../rest/answer-cache.ts";
import type { Charge } from "../rest/charge.ts";
import { matchesEtag } from "../rest/etag.ts";
import { accountAddress } from "../rest/parameters.ts";
import type { RouteAnswer } from "../rest/route.ts";
import { createElements } from "./elements/elements.ts";
import { awayPage, errorPage, missingPage } from "./error-pages.ts";
import { frame } from "./frame.ts";
import type { Page, PageContext, PageSettings } from "./page.ts";
import type { PageRoute } from "./page-route.ts";
import { qrOf } from "./pages/address.ts";
import { languages } from "./texts/languages.ts";

const pageType = "text/html; charset=utf-8";
const headers = {
  ...pageHeaders({ formsTo: "self" }),
  // The same URL in the language of whoever asks.
  Vary: `${languageVary}, Origin`,
  "Content-Type": pageType,
};
const headCacheControl = "private, max-age=1";
const yearSeconds = 31_536_000;
const files = readStaticFiles(new URL("assets/", import.meta.url), ["page.css", "page.js", "icon.svg"]);

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
};

/**
 * The explorer: its pages, their files, and a page for each path that nobody has. A page costs as much as a request
 * of REST v1 and is made once a head and language for everybody who asks.
 */
export function createExplorer(options: ExplorerOptions): Explorer {
  const { pages, read, cache, charge, settings, explain, logger, now } = options;

  /** Where a page is, and what it is made with. */
  function placeOf(request: FastifyRequest, language: Language) {
    const path = pathOf(request.url);
    const root = rootOf(path);
    const texts = languages[language];
    const el = createElements({ texts, root, nameOf: read.nameOf });
    const context: PageContext = { texts, read, settings, now, el };
    return { path, root, language, context };
  }

  /** A page that nothing is kept of: an error. */
  function sendError(request: FastifyRequest, reply: FastifyReply, show: (context: PageContext) => Page) {
    const { context, ...place } = placeOf(request, chooseLanguage(request).language);
    const page = show(context);
    return reply
      .headers(headers)
      .code(page.status ?? 200)
      .header("Cache-Control", "no-store")
      .send(frame(context, { ...place, page, entry: undefined }));
  }

  function sendLimited(request: FastifyRequest, reply: FastifyReply, { retryAfterMs = 1000 }: Refusal) {
    const seconds = Math.ceil(retryAfterMs / 1000);
    reply.header("Retry-After", String(seconds));
    return sendError(request, reply, (context) =>
      errorPage(context, {
        title: context.texts.errors.limited,
        help: context.texts.errors.limitedHelp(seconds),
        status: 429,
      }),
    );
  }

  function sendFailure(request: FastifyRequest, reply: FastifyReply, error: unknown) {
    if (explain(error) !== undefined) {
      return sendError(request, reply, (context) =>
        awayPage(context, isPostgresFailure(error) ? "index" : "chain"),
      );
    }
    logger.error({ err: error, requestId: request.id }, "a page failed");
    return sendError(request, reply, (context) =>
      errorPage(context, {
        title: context.texts.errors.internal,
        help: context.texts.errors.internalHelp(request.id),
        status: 500,
      }),
    );
  }

  async function handle(row: PageRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { language, chosen } = chooseLanguage(request);
    if (chosen) reply.header("Set-Cookie", rememberLanguage(language));
    reply.headers(headers);
    const key = `page ${language} ${request.url}`;
    const kept = cache.peek(key);
    const isUnchanged = ({ status, etag }: FinishedAnswer) =>
      status === 200 && matchesEtag(request.headers["if-none-match"], etag);
    if (kept !== undefined && isUnchanged(kept)) return sendHead(reply, kept).code(304).send();
    const charged = await charge({ request, reply, cost: 1 });
    if (isRefusal(charged)) return sendLimited(request, reply, charged);
    try {
      const answer = kept ?? (await cache.answer(key, () => make(row, { request, language })));
      if (isRefusal(answer)) return refuse({ request, reply, refused: answer });
      if (isUnchanged(answer)) return sendHead(reply, answer).code(304).send();
      return sendHead(reply, answer).code(answer.status).send(answer.body);
    } catch (error) {
      return sendFailure(request, reply, error);
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

  /** A path that nobody has is a page for people, a problem document for programs; other refusals are documents. */
  const refuse: Refuse = async ({ request, reply, refused }) => {
    const isPage =
      request.method === "GET" && prefersHtml(request.headers.accept) && !isForPrograms(request.url);
    if (isPage && refused.refused === "not_found") return sendError(request, reply, missingPage);
    return sendProblem({ request, reply, refused });
  };

  return {
    refuse,
    addTo(app) {
      for (const row of pages) app.get(row.path, (request, reply) => handle(row, request, reply));

      app.get<{ Params: { address: string } }>("/address/:address/qr.svg", async (request, reply) => {
        const account = accountAddress.safeParse(request.params.address);
        if (!account.success) return sendError(request, reply, missingPage);
        const charged = await charge({ request, reply, cost: 1 });
        if (isRefusal(charged)) return sendLimited(request, reply, charged);
        return reply
          .header("Cache-Control", `public, max-age=${yearSeconds}, immutable`)
          .type("image/svg+xml")
          .send(qrOf(account.data));
      });

      for (const { path, type, body } of files) {
        app.get(path, (_request, reply) =>
          reply.header("Cache-Control", staticCacheControl).type(type).send(body),
        );
      }
    },
  };
}

function sendHead(reply: FastifyReply, { status, etag, location }: FinishedAnswer): FastifyReply {
  if (location !== undefined) reply.header("Location", location);
  if (status !== 200) return reply.header("Cache-Control", "no-store");
  return reply.headers({ ETag: etag, "Cache-Control": headCacheControl });
}

/** From the root, without a slash before it. */
function pathOf(url: string): string {
  return url.replace(/^\/+/, "");
}

/** Leads from a page's folder to the first one: "./" at `blocks`, "../" at `block/7`. */
function rootOf(path: string): string {
  const [pathname = ""] = path.split("?", 1);
  const depth = pathname.split("/").length - 1;
  return depth === 0 ? "./" : "../".repeat(depth);
}

function isForPrograms(url: string): boolean {
  return /^\/(?:api|graphql|health)(?:[/?]|$)/.test(url);
}

/** Browsers name text/html; programs name JSON or take anything. */
function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && /\btext\/html\b/i.test(accept);
}
