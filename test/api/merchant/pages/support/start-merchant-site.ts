import type { Test } from "tap";
import { startMerchantApi } from "../../../../../scripts/pages/sites/merchant-sites.ts";
import { createDatabase } from "../../../../helpers/postgres.ts";
import { startRedis } from "../../../../helpers/redis.ts";

/** An API that sells, with a Redis and a database of its own, for a browser to open its pages. */
export async function startMerchantSite(t: Test): ReturnType<typeof startMerchantApi> {
  const { url: redisUrl } = await startRedis(t);
  return startMerchantApi(t, { redisUrl, postgresUrl: await createDatabase(t) });
}
