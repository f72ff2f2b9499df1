import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { payCall } from "../../../lib/fee-collector/fee-calls.ts";
import { isRefusal } from "../../../lib/http-service/refusal.ts";
import type { WalletConfiguration } from "../../../lib/network.ts";
import { chooseLanguage, languageVary, rememberLanguage } from "../../../lib/web/choose-language.ts";
import type { Language } from "../../../lib/web/languages.ts";
import { pageHeaders } from "../../../lib/web/page-headers.ts";
import { pageType } from "../../explorer/page-type.ts";
import type { PlaceOf } from "../../explorer/place-of.ts";
import type { Charge } from "../../rest/charge.ts";
import { transactionHash } from "../../rest/parameters.ts";
import { findSentPayment, noPayment, type SentPayment } from "../sent-payment.ts";
import type { CheckoutContext, CheckoutPage } from "./checkout-page.ts";
import type { Checkout, CustomerInvoice } from "./customer-invoice.ts";
import { checkoutFrame } from "./frame.ts";
import { messagePage } from "./pages/message.ts";
import { payPage } from "./pages/pay.ts";
import { receiptPage } from "./pages/receipt.ts";
import { isFinal } from "./payment-streams.ts";
import { languages } from "./texts/languages.ts";

/** Customers of these merchants are in Indonesia, unless their browser or the merchant says otherwise. */
const siteLanguage: Language = "id";

const headers = {
  // The icons by which wallets announce themselves are `data:`. The address opens the page, so no other site is told it.
  ...pageHeaders({ dataImages: true }),
  Vary: `${languageVary}, Origin`,
  "Content-Type": pageType,
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
};

type CheckoutRoute = {
  path: string;
  show(
    context: CheckoutContext,
    shown: CustomerInvoice,
    request: FastifyRequest,
  ): Promise<CheckoutPage> | CheckoutPage;
};

/** Every page for customers. */
export const checkoutRoutes: readonly CheckoutRoute[] = [
  {
    path: "/pay/:token",
    async show(context, shown, { query }) {
      return payPage(context, { shown, sent: await sentPayment(context, shown, Object(query).tx) });
    },
  },
  { path: "/pay/:token/receipt", show: receiptPage },
];

/** The pages at /pay: paying an invoice, and its receipt. Whoever has the link may see them; all but a browser's wallet works without scripts. */
export function createCheckoutPages({
  checkout,
  network,
  placeOf,
  charge,
  explain,
  logger,
}: {
  checkout: Pick<Checkout, "find">;
  /** Asked for each page. */
  network: () => WalletConfiguration;
  placeOf: PlaceOf;
  charge: Charge;
  /** Whether the database is away, as this error says; undefined for an error of our own. */
  explain: (error: unknown) => unknown;
  logger: Pick<Logger, "error">;
}) {
  async function handle(
    route: CheckoutRoute,
    request: FastifyRequest<{ Params: { token: string } }>,
    reply: FastifyReply,
  ) {
    /** In the reader's language, else in the merchant's for its customers. */
    const send = async (
      show: (context: CheckoutContext) => Promise<CheckoutPage> | CheckoutPage,
      ofMerchant: Language | null = null,
    ) => {
      const { language, chosen } = chooseLanguage(request, ofMerchant ?? siteLanguage);
      if (chosen) reply.header("Set-Cookie", rememberLanguage(language));
      const { context: site, root, path } = placeOf(request, language);
      const context: CheckoutContext = { ...site, network: network(), words: languages[language], language };
      const page = await show(context);
      return reply
        .headers(headers)
        .code(page.status ?? 200)
        .send(checkoutFrame(context, { page, root, path }));
    };
    const charged = await charge({ request, reply, cost: 1 });
    if (isRefusal(charged)) {
      const seconds = Math.ceil((charged.retryAfterMs ?? 1000) / 1000);
      reply.header("Retry-After", String(seconds));
      return send((context) => limitedPage(context, seconds));
    }
    try {
      const shown = await checkout.find(request.params.token);
      if (shown === undefined) return await send(missingPage);
      return await send((context) => route.show(context, shown, request), shown.merchant.language);
    } catch (error) {
      if (explain(error) !== undefined) return send(awayPage);
      logger.error({ err: error, requestId: request.id }, "a payment page failed");
      return send((context) => failedPage(context, request.id));
    }
  }

  return {
    addTo(app: FastifyInstance): void {
      for (const route of checkoutRoutes)
        app.get<{ Params: { token: string } }>(route.path, (request, reply) => handle(route, request, reply));
    },
  };
}

/** The payment that the page's address names. One that is booked, or that would pay something else, is none. */
async function sentPayment(
  context: CheckoutContext,
  { invoice, order, payments }: CustomerInvoice,
  given: unknown,
): Promise<SentPayment> {
  const hash = transactionHash.safeParse(given);
  if (!hash.success || order === undefined || isFinal(invoice)) return noPayment;
  const call = payCall(order);
  const found = await findSentPayment(context, {
    hash: hash.data,
    isOurs: ({ to, input }) => (to === order.feeCollector && input === call) || to === invoice.box,
  });
  const { blockNumber = null } = found.state === "mined" ? found : {};
  const isBooked = blockNumber !== null && payments.some((payment) => payment.blockNumber >= blockNumber);
  if (isBooked) return noPayment;
  // What came before it in the same block is not seen where its reason is looked for.
  const isAfterMoney = found.state === "reverted" && found.error === undefined && invoice.received > 0n;
  return isAfterMoney ? { ...found, error: "MoneyInBox" } : found;
}

function missingPage(context: CheckoutContext): CheckoutPage {
  const { title, help } = context.words.missing;
  return messagePage(context, { title, help, status: 404, again: false });
}

function limitedPage(context: CheckoutContext, seconds: number): CheckoutPage {
  const { limited, limitedHelp } = context.words.errors;
  return messagePage(context, { title: limited, help: limitedHelp(String(seconds)), status: 429 });
}

function awayPage(context: CheckoutContext): CheckoutPage {
  const { away, awayHelp } = context.words.errors;
  return messagePage(context, { title: away, help: awayHelp, status: 503 });
}

function failedPage(context: CheckoutContext, requestId: string): CheckoutPage {
  const { internal, internalHelp } = context.words.errors;
  return messagePage(context, { title: internal, help: internalHelp(requestId), status: 500 });
}
