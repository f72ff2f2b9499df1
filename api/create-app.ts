import type { FastifyInstance } from "fastify";
import { printSchema } from "graphql";
import type { Logger } from "pino";
import { createBodyReader, jsonType } from "../lib/http-service/body-reader.ts";
import { createClientAddress, limitAddress } from "../lib/http-service/client-address.ts";
import { createHttpService } from "../lib/http-service/create-http-service.ts";
import { productVersion } from "../lib/version.ts";
import { type ApiConfig, pointsOf } from "./config.ts";
import type { Parts } from "./create-parts.ts";
import { explainFailure } from "./explain-failure.ts";
import { createExplorer } from "./explorer/create-explorer.ts";
import { createPages } from "./explorer/create-pages.ts";
import type { PageSettings } from "./explorer/page.ts";
import { addTryPage, createPlayground } from "./explorer/tools/add-tools.ts";
import { createSchema } from "./graphql/schema.ts";
import { serveGraphql } from "./graphql/serve-graphql.ts";
import { serveLive } from "./live/serve-live.ts";
import { createRequireKey } from "./merchant/api-keys/require-key.ts";
import { createCheckoutPages } from "./merchant/checkout/create-checkout-pages.ts";
import { payerNetworkOf } from "./merchant/checkout/payer-network.ts";
import { servePaymentEvents } from "./merchant/checkout/serve-payment-events.ts";
import { createMerchantPages } from "./merchant/pages/create-merchant-pages.ts";
import { createKeySales } from "./merchant/pages/key-sales.ts";
import { payerRpcPath } from "./merchant/payer-rpc/payer-rpc-config.ts";
import { type ApiMetrics, measureRequests } from "./metrics.ts";
import { createHealth } from "./read/health.ts";
import { addressOf, createCharge, createChargeClient } from "./rest/charge.ts";
import { allowOrigins } from "./rest/cross-origin.ts";
import { operations } from "./rest/operations.ts";
import { createRoutes } from "./rest/routes.ts";
import { serveOperations } from "./rest/serve-operations.ts";
import { serveRoutes } from "./rest/serve-routes.ts";

/** The listener's doors, over the parts: REST, GraphQL, live events, pages and `/health`. */
export function createApp({
  config,
  parts,
  metrics,
  logger,
  now,
}: {
  config: ApiConfig;
  parts: Parts;
  metrics: ApiMetrics;
  logger: Logger;
  now: () => number;
}): FastifyInstance {
  const { read, feed, streams, limiter, sessions, merchant } = parts;
  const { cache, memo, canBeImmutable } = parts.finished;
  const clientAddress = createClientAddress(config);
  const chargeClient = createChargeClient({ limiter });
  const charge = createCharge({ chargeClient, clientAddress });
  const bodies = createBodyReader({ what: "The body", types: [jsonType] });
  const schema = createSchema();
  const version = productVersion;
  const routes = createRoutes({
    version,
    publicUrl: config.publicUrl,
    graphqlSchema: () => printSchema(schema),
  });
  const playground = createPlayground({ isDevelopment: config.profile === "development" });
  const explorer = createExplorer({
    pages: createPages({
      routes: [...routes, ...operations],
      isDevelopment: config.profile === "development",
    }),
    read,
    cache,
    charge,
    settings: pageSettingsOf(config, { hasPlayground: playground !== undefined }),
    explain: explainFailure,
    logger,
    now,
  });
  const app = createHttpService({
    refuse: explorer.refuse,
    bodies,
    bodyBytesMax: config.bodyBytesMax,
    requestTimeoutMs: config.requestTimeoutMs,
    explain: explainFailure,
    logger,
  });
  measureRequests(app, metrics);
  allowOrigins(app, {
    origins: () => (config.profile === "development" ? "any" : config.origins),
    // Wallets in any page pay; nothing there is anybody's own.
    openPaths: parts.payerRpc === undefined ? [] : [payerRpcPath],
  });
  serveRoutes(app, { routes, read, cache, charge, canBeImmutable });
  serveOperations(app, {
    operations,
    services: { sessions, ...merchant.services },
    bodies,
    doors: {
      charge,
      addressOf: (request) => limitAddress(addressOf(request, clientAddress)),
      requireSession: sessions.requireSession,
      requireKey: createRequireKey({
        ...{ lookUp: merchant.lookUp, use: merchant.keyUse, chargeClient, clientAddress },
        ...{ profile: config.profile, now },
      }),
    },
  });
  serveGraphql(app, { schema, read, memo, charge, bodies, explain: explainFailure, logger, playground });
  serveLive(app, { feed, charge, clientAddress });
  explorer.addTo(app);
  createMerchantPages({
    sales: createKeySales(merchant.services),
    dashboard: merchant.services.dashboard,
    invoices: merchant.services.invoices,
    webhooks: merchant.services.webhooks,
    profile: merchant.services.settings,
    ...{ sessions, charge, explain: explainFailure, logger },
    placeOf: explorer.placeOf,
  }).addTo(app);
  parts.payerRpc?.addTo(app, { bodies, clientAddress, explain: explainFailure });
  createCheckoutPages({
    checkout: merchant.checkout,
    network: () => payerNetworkOf(config),
    placeOf: explorer.placeOf,
    ...{ charge, explain: explainFailure, logger },
  }).addTo(app);
  servePaymentEvents(app, { checkout: merchant.checkout, streams, charge, clientAddress });
  addTryPage(app);
  playground?.addTo(app);
  const health = createHealth({ ...parts, version });
  app.get("/health", async (_request, reply) => {
    const record = await health();
    return reply.code(record.status === "failing" ? 503 : 200).send(record);
  });
  return app;
}

/** What the pages say of the API, as the configuration says by then. */
function pageSettingsOf(config: ApiConfig, { hasPlayground }: { hasPlayground: boolean }): PageSettings {
  return {
    publicUrl: config.publicUrl,
    hasPlayground,
    get faucetUrl() {
      return config.faucetUrl;
    },
    get walletProxyUrl() {
      return config.walletProxyUrl;
    },
    limit: {
      get points() {
        return pointsOf(config);
      },
      windowSeconds: config.limits.windowSeconds,
    },
  };
}
