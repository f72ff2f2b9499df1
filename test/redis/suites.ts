/** Limits, keys, filters and the faucet: what asks something of Redis, in parts that take about as long. */
export const suites = {
  limits: [
    () => import("../gateway/limits/exact.test.ts"),
    () => import("../gateway/limits/failure-limiter.test.ts"),
    () => import("../gateway/limits/lease.test.ts"),
    () => import("../gateway/limits/model.test.ts"),
    () => import("../gateway/limits/usage.test.ts"),
  ],
  outages: [
    () => import("../gateway/limits/degraded.test.ts"),
    () => import("../gateway/lost-keys.test.ts"),
    () => import("../faucet/redis-away.test.ts"),
  ],
  keysAndFilters: [
    () => import("../lib/keys/key-store.test.ts"),
    () => import("../lib/keys/key-store-seed.test.ts"),
    () => import("../lib/keys/key-store-watch.test.ts"),
    () => import("../gateway/key-changes.test.ts"),
    () => import("../gateway/filters/filters.test.ts"),
    () => import("../gateway/filters/kill.test.ts"),
  ],
  faucet: [
    () => import("../faucet/claim.test.ts"),
    () => import("../faucet/payments.test.ts"),
    () => import("../faucet/refused-payments.test.ts"),
    () => import("../faucet/refused-requests.test.ts"),
    () => import("../faucet/replicas.test.ts"),
  ],
} as const;
