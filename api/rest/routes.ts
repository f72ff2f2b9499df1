import { openApiOf } from "./openapi.ts";
import { operations } from "./operations.ts";
import type { Route } from "./route.ts";
import { blockRoutes } from "./routes/blocks.ts";
import { chainRoutes } from "./routes/chain.ts";
import { descriptionRoutes } from "./routes/description.ts";
import { transactionRoutes } from "./routes/transactions.ts";

/** Every route of REST v1: what is served, described and tested. */
export function createRoutes({
  version,
  publicUrl,
  graphqlSchema,
}: {
  version: string;
  publicUrl: string;
  graphqlSchema: () => string;
}): Route[] {
  let openApi: object | undefined;
  const routes: Route[] = [
    ...chainRoutes,
    ...blockRoutes,
    ...transactionRoutes,
    ...descriptionRoutes({
      openApi() {
        openApi ??= openApiOf({ routes, operations, version, servers: [publicUrl] });
        return openApi;
      },
      graphqlSchema,
    }),
  ];
  return routes;
}
