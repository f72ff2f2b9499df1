import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { createBodyReader, formType } from "../../../lib/http-service/body-reader.ts";
import { isRefusal, type Refusal } from "../../../lib/http-service/refusal.ts";
import { chooseLanguage, languageVary, rememberLanguage } from "../../../lib/web/choose-language.ts";
import { pageHeaders } from "../../../lib/web/page-headers.ts";
import { frame } from "../../explorer/frame.ts";
import type { Page } from "../../explorer/page.ts";
import { pageType } from "../../explorer/page-type.ts";
import type { Place, PlaceOf } from "../../explorer/place-of.ts";
import { createErrorPages } from "../../explorer/send-error-pages.ts";
import type { Charge } from "../../rest/charge.ts";
import type { WalletSessions } from "../session/wallet-sessions.ts";
import { message } from "./elements.ts";
import type {
  Input,
  MerchantAnswer,
  MerchantContext,
  MerchantRoute,
  MerchantServices,
} from "./merchant-page.ts";
import { buy, makeOrder } from "./pages/buy.ts";
import { askToCancel, cancelInvoice, collectInvoice } from "./pages/change-invoice.ts";
import { invoice } from "./pages/invoice.ts";
import { invoiceList, invoicesCsv } from "./pages/invoices.ts";
import { keys } from "./pages/keys.ts";
import { makeInvoice, newInvoice } from "./pages/new-invoice.ts";
import { order } from "./pages/order.ts";
import { overview } from "./pages/overview.ts";
import { refundInvoice } from "./pages/refund-invoice.ts";
import { askToRevoke, revoke } from "./pages/revoke.ts";
import { endOtherSessions, endSession, sessions as sessionsPage, signOut } from "./pages/sessions.ts";
import { saveSettings, settings } from "./pages/settings.ts";
import { signInPage } from "./pages/sign-in.ts";
import { takeKey, takenKey } from "./pages/take-key.ts";
import { askToRotate, rotate } from "./pages/webhooks/rotate.ts";
import { saveWebhookUrl, takenWebhook, takeWebhook } from "./pages/webhooks/save-webhook.ts";
import {
  enable,
  finishRotation,
  replayOne,
  replaySince,
  sendTest,
} from "./pages/webhooks/webhook-actions.ts";
import { webhookEvent } from "./pages/webhooks/webhook-event.ts";
import { webhooksPage } from "./pages/webhooks/webhooks-page.ts";
import { languages } from "./texts/languages.ts";

/** Every page for merchants. */
export const merchantRoutes: readonly MerchantRoute[] = [
  overview,
  invoiceList,
  invoicesCsv,
  newInvoice,
  makeInvoice,
  invoice,
  askToCancel,
  cancelInvoice,
  collectInvoice,
  refundInvoice,
  keys,
  buy,
  makeOrder,
  order,
  takeKey,
  takenKey,
  askToRevoke,
  revoke,
  webhooksPage,
  saveWebhookUrl,
  takeWebhook,
  takenWebhook,
  sendTest,
  askToRotate,
  rotate,
  finishRotation,
  enable,
  replaySince,
  webhookEvent,
  replayOne,
  settings,
  saveSettings,
  sessionsPage,
  endSession,
  endOtherSessions,
  signOut,
];

const headers = {
  // The icons by which wallets announce themselves are `data:`.
  ...pageHeaders({ formsTo: "self", dataImages: true }),
  // Forms of these pages name their origin, as the rule against those of others wants it.
  "Referrer-Policy": "same-origin",
  Vary: `${languageVary}, Origin`,
  "Content-Type": pageType,
  // They are one wallet's.
  "Cache-Control": "no-store",
};
const retrySeconds = 5;
const forms = createBodyReader({ what: "A form of these pages", types: [formType] });

export type MerchantPagesOptions = MerchantServices & {
  sessions: Pick<WalletSessions, "requireSession">;
  placeOf: PlaceOf;
  charge: Charge;
  explain: (error: unknown) => unknown;
  logger: Pick<Logger, "error">;
};

/**
 * The pages at /merchant: signing in, the overview, invoices, keys, buying one, sessions. All but signing a message and a payment works without
 * scripts, by forms; a form is taken from our own pages alone.
 */
export function createMerchantPages(options: MerchantPagesOptions) {
  const { placeOf, charge, explain, logger } = options;
  const errors = createErrorPages({ placeOf, explain, logger });

  async function handle(row: MerchantRoute, request: FastifyRequest, reply: FastifyReply) {
    const { language, chosen } = chooseLanguage(request);
    if (chosen) reply.header("Set-Cookie", rememberLanguage(language));
    const place = placeOf(request, language);
    const { sales, dashboard, invoices, webhooks, profile, sessions } = options;
    const context: MerchantContext = {
      ...place.context,
      ...{ words: languages[language], language },
      ...{ sales, dashboard, invoices, webhooks, profile, sessions },
    };
    const charged = await charge({ request, reply, cost: row.cost ?? 1 });
    if (isRefusal(charged)) return errors.sendLimited(request, reply, charged);
    try {
      return send(reply, { place, context, answer: await answer(row, { request, context }) });
    } catch (error) {
      if (explain(error) === undefined) return errors.sendFailure(request, reply, error);
      return send(reply, { place, context, answer: awayPage(context) });
    }
  }

  async function answer(
    row: MerchantRoute,
    { request, context }: { request: FastifyRequest; context: MerchantContext },
  ): Promise<MerchantAnswer> {
    const session = await options.sessions.requireSession(request);
    const input = readInput(request);
    if (isRefusal(session)) {
      if (session.refused === "forbidden") return foreignPage(context);
      const { address } = input.query;
      const isFirst = row.path === "/merchant" && request.method !== "POST";
      const hadCookie = /svc_session=[^;]/.test(request.headers.cookie ?? "");
      return signInPage(context, {
        address: typeof address === "string" ? address : undefined,
        next: request.method === "POST" ? "merchant" : pathOf(request),
        note: hadCookie ? context.words.signIn.ended : undefined,
        status: isFirst ? 200 : 401,
      });
    }
    const webhook = await options.webhooks.find(session.wallet);
    return row.answer({ ...context, session, webhook }, input);
  }

  return {
    addTo(app: FastifyInstance): void {
      // A room of its own: what reads forms here reads none anywhere else.
      void app.register(async (room) => {
        forms.addTo(room);
        for (const row of merchantRoutes) {
          room.route({
            method: row.method,
            url: row.path,
            handler: (request, reply) => handle(row, request, reply),
          });
        }
      });
    },
  };
}

function send(
  reply: FastifyReply,
  { place, context, answer }: { place: Place; context: MerchantContext; answer: MerchantAnswer },
): FastifyReply {
  if (answer.setCookie !== undefined) reply.header("Set-Cookie", answer.setCookie);
  if ("redirect" in answer)
    return reply.header("Cache-Control", "no-store").redirect(place.root + answer.redirect, 303);
  if ("file" in answer) {
    const { text, type, name } = answer.file;
    const file = { "Content-Type": type, "Content-Disposition": `attachment; filename="${name}"` };
    return reply.headers({ ...headers, ...file }).send(text);
  }
  const { context: explorer, ...where } = place;
  const page = { ...answer, assets: "merchant", words: context.words.words };
  return reply
    .headers(headers)
    .code(answer.status ?? 200)
    .send(frame(explorer, { ...where, page, entry: "merchant" }));
}

/** From the root, without its query. */
function pathOf({ url }: FastifyRequest): string {
  return (url.split("?", 1)[0] ?? "").replace(/^\/+/, "");
}

function readInput(request: FastifyRequest): Input {
  const form = request.method === "POST" && request.body !== undefined ? formOf(forms.read(request)) : {};
  return { params: textsOf(request.params), query: { ...Object(request.query) }, form };
}

/** What is no form is one without fields: the page says what is missing. */
function formOf(read: { body: unknown } | Refusal): Record<string, unknown> {
  return isRefusal(read) ? {} : { ...Object(read.body) };
}

function textsOf(params: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(Object(params)).map(([name, value]) => [name, String(value)]));
}

function foreignPage(context: MerchantContext): Page {
  const { foreign, foreignHelp } = context.words.errors;
  return message(context, { title: foreign, help: foreignHelp, status: 403 });
}

function awayPage(context: MerchantContext): Page {
  const { away, awayHelp } = context.words.errors;
  return { ...message(context, { title: away, help: awayHelp, status: 503 }), retrySeconds };
}
