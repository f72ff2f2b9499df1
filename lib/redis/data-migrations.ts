import { faucetDataKey, faucetMigratingKey, keysDataKey, keysMigratingKey } from "./keys/data.ts";
import type { RedisData } from "./migrate-data.ts";

/** What the first version writes. It has nothing to change. */
const first = { name: "v0.1.0-first", lets: "0.1.0", step: async () => undefined };

/*
 * A new one stands last in its list, is named by the version that brings it, and changes what others may read meanwhile: processes of the
 * version before serve on while it runs, and after it (DECISIONS.md, "Migrations have the version in their name").
 */

/** API keys, teams, limits, filters: the gateway's Redis. */
export const keysData: RedisData = {
  holds: "API keys, limits and filters",
  dataKey: keysDataKey,
  lockKey: keysMigratingKey,
  migrations: [first],
};

/** Claims, their limits and the nonce: the faucet's Redis. */
export const faucetData: RedisData = {
  holds: "the faucet's claims",
  dataKey: faucetDataKey,
  lockKey: faucetMigratingKey,
  migrations: [first],
};
