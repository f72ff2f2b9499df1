import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { isRefusal, type Refusal } from "../../lib/http-service/refusal.ts";
import { isRedisFailure } from "../../lib/redis/redis-failure.ts";
import { chooseLanguage, languageVary, rememberLanguage } from "../../lib/web/choose-language.ts";
import type { html } from "../../lib/web/html.ts";
import { pageHeaders } from "../../lib/web/page-headers.ts";
import { readStaticFiles, staticCacheControl } from "../../lib/web/static-files.ts";
import type { BalanceAfter } from "../chain/balance-after.ts";
import type { Admission, ClaimScope } from "../claims/admission.ts";
import type { Claim } from "../claims/claim.ts";
import type { LookUpAllowance } from "../look-up-allowance.ts";
import type { StatusView } from "../read-status.ts";
import { readRecentClaims, rememberClaim } from "./recent-claims.ts";
import { renderMessage, renderPage } from "./render.ts";
import { languages } from "./texts/languages.ts";
import type { PageContent, PageSettings, View } from "./view.ts";
import { createWords } from "./words.ts";

/** What Redis knows. */
type Known = Pick<PageContent, "status" | "recent">;
type Answering = { request: FastifyRequest; reply: FastifyReply };

export type Page = {
  /** Serves `/` and the files that it needs. */
  addTo(app: FastifyInstance): void;
  /** The page of one claim, which loads itself again until the claim has ended. */
  sendClaim(answering: Answering & { claim: Claim }): Promise<FastifyReply>;
  /** What is wrong. A claim's refusal is the page with the form as it was filled in; the status is set already. */
  sendRefusal(answering: Answering & { refused: Refusal; typedAddress: string }): Promise<FastifyReply>;
  /** Has the browser remember that it made this claim. */
  rememberClaim(answering: Answering & { claim: Claim }): void;
};

export type PageOptions = {
  settings: PageSettings & { recordsKeptMs: number };
  status: () => Promise<StatusView>;
  admission: Pick<Admission, "find" | "nextAtMs">;
  balanceAfter: BalanceAfter;
  lookUpAllowance: LookUpAllowance;
  scopeOf: (request: FastifyRequest) => ClaimScope | Refusal;
  now: () => number;
};

const headers = {
  ...pageHeaders({ formsTo: "self" }),
  "Content-Type": "text/html; charset=utf-8",
  Vary: `Accept, ${languageVary}`,
};
const files = readStaticFiles(new URL(".", import.meta.url), [
  "page.css",
  "page.js",
  "wallets.js",
  "icon.svg",
]);
const typedCharsMax = 100;
const query = z.object({ address: z.string().trim().max(typedCharsMax).optional() });

/** The faucet's pages for people, in their language, with or without scripts. */
export function createPage(options: PageOptions): Page {
  const { settings, status, admission, balanceAfter, lookUpAllowance, scopeOf, now } = options;

  function viewOf(request: FastifyRequest): View {
    const { language } = chooseLanguage(request);
    const texts = languages[language];
    const isPage = request.method === "GET" || request.method === "HEAD";
    return {
      texts,
      language,
      settings,
      words: createWords({ texts, now }),
      path: isPage ? request.url.replace(/^\/+/, "") : "",
    };
  }

  function send({ request, reply }: Answering, text: string): FastifyReply {
    const { language, chosen } = chooseLanguage(request);
    if (chosen) reply.header("Set-Cookie", rememberLanguage(language));
    return reply.headers({ ...headers, "Content-Language": language }).send(text);
  }

  /** Rejects with ioredis's error where Redis does not answer. */
  async function readKnown({ headers: { cookie } }: FastifyRequest): Promise<Known> {
    const [now, claims] = await Promise.all([
      status(),
      Promise.all(readRecentClaims(cookie).map((id) => admission.find(id))),
    ]);
    return { status: now, recent: claims.filter((claim) => claim !== undefined) };
  }

  async function render(
    request: FastifyRequest,
    content: Omit<PageContent, keyof Known>,
    known: Promise<Known> = readKnown(request),
  ): Promise<string> {
    return renderPage(viewOf(request), { ...content, ...(await known) });
  }

  return {
    async sendClaim({ request, reply, claim }) {
      const isPaid = claim.status === "confirmed";
      const [balanceWei, nextAtMs] = await Promise.all([
        balanceAfter(claim),
        isPaid ? admission.nextAtMs(claim.address) : undefined,
      ]);
      const followed = { claim, balanceWei, nextAtMs };
      return send(
        { request, reply },
        await render(request, { followed, address: claim.address, amountWei: claim.amountWei }),
      );
    },

    async sendRefusal({ request, reply, refused, typedAddress }) {
      const view = viewOf(request);
      const error = view.words.refusal(refused);
      if (request.method === "POST" && refused.refused !== "not_found") {
        // What was typed is not lost where Redis is away.
        const known = readKnown(request).catch((failure: unknown) => {
          if (!isRedisFailure(failure)) throw failure;
          return { status: undefined, recent: [] };
        });
        return send({ request, reply }, await render(request, { address: typedAddress, error }, known));
      }
      return send({ request, reply }, renderMessage(view, messageOf({ request, refused, view, error })));
    },

    rememberClaim({ request, reply, claim: { id } }) {
      const { recordsKeptMs: keptMs } = settings;
      reply.header("Set-Cookie", rememberClaim(request.headers.cookie, { id, keptMs }));
    },

    addTo(app) {
      app.get("/", async (request, reply) => {
        const { address = "" } = query.catch({}).parse(request.query);
        const scope = scopeOf(request);
        if (address === "" || isEmbedded(request) || isRefusal(scope))
          return send({ request, reply }, await render(request, {}));
        const { amountWei, refused } = await lookUpAllowance({ address, scope });
        const error = refused === undefined ? undefined : viewOf(request).words.refusal(refused);
        return send({ request, reply }, await render(request, { address, amountWei, error }));
      });
      for (const { path, type, body } of files) {
        app.get(path, (_request, reply) =>
          reply.header("Cache-Control", staticCacheControl).type(type).send(body),
        );
      }
    },
  };
}

/** A page elsewhere could use up its visitors' refusals by what it embeds. Following its link is another thing. */
function isEmbedded({ headers }: FastifyRequest): boolean {
  return headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate";
}

/** What stands in place of a page. */
function messageOf({
  request,
  refused: { refused, reason },
  view: { texts },
  error,
}: {
  request: FastifyRequest;
  refused: Refusal;
  view: View;
  error: ReturnType<typeof html>;
}): Parameters<typeof renderMessage>[1] {
  const { missing, away, failed, refusedPage } = texts;
  const home = { href: "/", text: missing.home };
  switch (refused) {
    case "not_found":
      return reason === "claim_unknown"
        ? { title: missing.claim, help: missing.claimHelp, wayOn: home }
        : { title: missing.title, help: missing.help, wayOn: home };
    case "service_unavailable":
      return {
        title: away.title,
        help: away.help,
        wayOn: { href: request.url.replace(/^\/+/, "/"), text: away.again },
      };
    case "internal_error":
      return { title: failed.title, help: failed.help(request.id), wayOn: home };
    default:
      return { title: refusedPage, help: error, wayOn: home };
  }
}
