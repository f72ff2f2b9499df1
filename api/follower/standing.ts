import type { IndexRow } from "./index-row.ts";
import type { FollowerMetrics } from "./metrics.ts";

export type IndexEnd = Pick<IndexRow, "epoch" | "next">;

export type FollowerStanding = {
  /** Undefined before PostgreSQL was read, or while no index has been begun. */
  epoch: number | undefined;
  /** The first block that is not in the index. */
  next: number | undefined;
  /** 0 at the head; undefined while the chain's head or the index's end is not known. */
  behindBlocks: number | undefined;
  /** Whether this process writes the index. */
  isLeader: boolean;
  /** Whether PostgreSQL tells where the index ends; otherwise this is what it told last. */
  isConnected: boolean;
  /** Why nothing is written: the index belongs to another chain. */
  refused: string | undefined;
};

/** What a process knows of the index, from its own writes, from what others' commits tell, and from asking. */
export function createIndexStanding({ metrics }: { metrics: FollowerMetrics }) {
  const listeners = new Set<(end: IndexEnd) => void>();
  let end: IndexEnd | undefined;
  let head: number | undefined;
  let isLeader = false;
  let isConnected = false;
  let refused: string | undefined;
  /** Counts what was told while a question was under way, whose answer is then the older. */
  let changes = 0;

  function behindBlocks(): number | undefined {
    return head === undefined || end === undefined ? undefined : Math.max(0, head + 1 - end.next);
  }

  function measure(): void {
    metrics.next.set(end?.next ?? 0);
    metrics.behind.set(behindBlocks() ?? 0);
    metrics.leader.set(isLeader ? 1 : 0);
    metrics.refused.set(refused === undefined ? 0 : 1);
  }

  function set(told: IndexEnd | undefined): void {
    if (told?.epoch === end?.epoch && told?.next === end?.next) return;
    end = told === undefined ? undefined : { epoch: told.epoch, next: told.next };
    measure();
    if (end !== undefined) for (const listener of listeners) listener(end);
  }

  function advance(told: IndexEnd): void {
    changes += 1;
    const isLater =
      end === undefined || told.epoch > end.epoch || (told.epoch === end.epoch && told.next > end.next);
    if (isLater) set(told);
  }

  return {
    read: (): FollowerStanding => ({
      epoch: end?.epoch,
      next: end?.next,
      behindBlocks: behindBlocks(),
      isLeader,
      isConnected,
      refused,
    }),
    written: advance,
    news: advance,
    /** Before PostgreSQL is asked; what is returned takes the answer, which may also be lower: a backup was restored. */
    beginRead() {
      const before = changes;
      return (row: IndexRow | undefined) => {
        if (changes === before) set(row);
      };
    },
    sawHead(number: number): void {
      head = number;
      measure();
    },
    leads(leads: boolean): void {
      isLeader = leads;
      if (!leads) refused = undefined;
      measure();
    },
    connected(connected: boolean): void {
      isConnected = connected;
    },
    refused(reason: string | undefined): void {
      refused = reason;
      measure();
    },
    onIndexed(listener: (end: IndexEnd) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
