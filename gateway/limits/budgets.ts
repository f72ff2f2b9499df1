import { LRUCache } from "lru-cache";
import { type Budget, type ChargeRequest, createBudget } from "./budget.ts";

/** Keys with budgets in memory. The least recently used is dropped, and its points are given back. */
const keysMax = 20_000;
/** Makes the function that finds a key's budget in memory, as its key and its team are now. */
export function createBudgets({
  outage,
  onDropped,
}: {
  outage: (team: string) => number;
  onDropped: (budget: Budget) => void;
}) {
  const budgets = new LRUCache<string, Budget>({ max: keysMax, dispose: onDropped });

  return function budgetOf({ keyId, team, limitPerMinute, teamCapPerMinute = 0 }: ChargeRequest): Budget {
    let budget = budgets.get(keyId);
    if (budget?.team !== team) {
      budget = createBudget({ keyId, team, outage: outage(team) });
      budgets.set(keyId, budget);
    }
    if (budget.limit !== limitPerMinute || budget.teamCap !== teamCapPerMinute) {
      budget.limit = limitPerMinute;
      budget.teamCap = teamCapPerMinute;
      budget.refusedUntilMs = 0;
    }
    return budget;
  };
}
