import { randomBytes } from "node:crypto";
import type { ChainBlock } from "./besu-blocks.ts";
import { type Answer, answered, besuErrors, refused } from "./besu-errors.ts";
import { type Handlers, readLogs } from "./chain-methods.ts";
import type { ChainView } from "./chain-view.ts";
import { isObject } from "./json.ts";
import { type LogFilter, matchLogs, readLogFilter } from "./logs.ts";

type Filter = { changes: unknown[] } & (
  | { kind: "blocks" | "pending" }
  | { kind: "logs"; criteria: unknown; logFilter: LogFilter }
);

const filtersMax = 10_000;

/** The filters of one validator: no other one knows them, and they end with its process. */
export function createFilters({ view }: { view: ChainView }) {
  const filters = new Map<string, Filter>();

  function install(filter: Filter): Answer {
    if (filters.size >= filtersMax) return refused(besuErrors.internal);
    const id = `0x${randomBytes(16).toString("hex")}`;
    filters.set(id, filter);
    return answered(id);
  }

  function changes(id: unknown): Answer {
    const filter = filters.get(String(id));
    if (filter === undefined) return refused(besuErrors.filterNotFound);
    const answer = answered(filter.changes);
    filter.changes = [];
    return answer;
  }

  function logs(id: unknown): Answer {
    const filter = filters.get(String(id));
    return filter?.kind === "logs" ? readLogs(filter.criteria, view) : refused(besuErrors.filterNotFound);
  }

  const handlers: Handlers = {
    eth_newFilter: ([criteria]) =>
      isObject(criteria)
        ? install({ kind: "logs", criteria, logFilter: readLogFilter(criteria), changes: [] })
        : refused(besuErrors.invalidParams),
    eth_newBlockFilter: () => install({ kind: "blocks", changes: [] }),
    eth_newPendingTransactionFilter: () => install({ kind: "pending", changes: [] }),
    eth_getFilterChanges: ([id]) => changes(id),
    eth_getFilterLogs: ([id]) => logs(id),
    eth_uninstallFilter: ([id]) => answered(filters.delete(String(id))),
  };

  return {
    handlers,
    onBlock(block: ChainBlock): void {
      for (const filter of filters.values()) {
        if (filter.kind === "blocks") filter.changes.push(block.hash);
        if (filter.kind === "logs") filter.changes.push(...matchLogs(block, filter.logFilter));
      }
    },
    onPending(hash: string): void {
      for (const filter of filters.values()) if (filter.kind === "pending") filter.changes.push(hash);
    },
    clear: () => filters.clear(),
  };
}
