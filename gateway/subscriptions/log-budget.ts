import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** Bounds of log subscriptions. A value is an address or a topic; a subscription without any counts as one value. */
export type LogBudgetSettings = {
  logSubscriptionsPerKeyMax: number;
  logValuesPerKeyMax: number;
  /** In the whole process. */
  logValuesMax: number;
};

/** Counts log subscriptions and their values, by key and in all. The bounds are read anew for each. */
export function createLogBudget(settings: Readonly<LogBudgetSettings>) {
  const keys = new Map<string, { subscriptions: number; values: number }>();
  let valuesInAll = 0;

  return {
    values: () => valuesInAll,

    /** Undefined if there was room. */
    take(keyId: string, values: number): Refusal | undefined {
      const { logSubscriptionsPerKeyMax, logValuesPerKeyMax, logValuesMax } = settings;
      const key = keys.get(keyId) ?? { subscriptions: 0, values: 0 };
      if (key.subscriptions >= logSubscriptionsPerKeyMax) {
        return refusal(
          "rate_limited",
          `This API key has ${logSubscriptionsPerKeyMax} log subscriptions, its limit; end one with eth_unsubscribe`,
          { data: { logSubscriptionsPerKeyMax } },
        );
      }
      if (key.values + values > logValuesPerKeyMax) {
        return refusal(
          "rate_limited",
          `The subscriptions of this API key may name ${logValuesPerKeyMax} addresses and topics; end one with eth_unsubscribe`,
          { data: { logValuesPerKeyMax } },
        );
      }
      if (valuesInAll + values > logValuesMax) {
        return refusal(
          "service_unavailable",
          "This gateway has no room for more log subscriptions; try again later, or name fewer addresses and topics",
        );
      }
      key.subscriptions += 1;
      key.values += values;
      valuesInAll += values;
      keys.set(keyId, key);
      return undefined;
    },

    giveBack(keyId: string, values: number): void {
      const key = keys.get(keyId);
      if (key === undefined) return;
      key.subscriptions -= 1;
      key.values -= values;
      valuesInAll -= values;
      if (key.subscriptions === 0) keys.delete(keyId);
    },
  };
}
