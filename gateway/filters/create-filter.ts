import type { FoundKey } from "../../lib/keys/key-reader.ts";
import { type Answer, ownAnswer } from "../json-rpc/answer.ts";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { PendingTransactions } from "../subscriptions/pending/pending-transactions.ts";
import { nobodyAnswered } from "./filter-refusals.ts";
import type { FilterKind, FilterStore } from "./filter-store.ts";
import { blockCursor } from "./poll.ts";
import type { RecentBlocks } from "./recent-blocks.ts";

/** Makes the function that makes a filter, within its key's bounds. It begins behind what there is now. */
export function createFilterMaker({
  store,
  blocks,
  pending,
  settings: { perKeyMax, bytesPerKeyMax },
}: {
  store: Pick<FilterStore, "create">;
  blocks: Pick<RecentBlocks, "head">;
  pending: Pick<PendingTransactions, "end">;
  settings: { perKeyMax: number; bytesPerKeyMax: number };
}) {
  return async function create(kind: FilterKind, key: FoundKey, criteria = ""): Promise<Answer | Refusal> {
    const head = blocks.head();
    if (kind !== "pending" && head === undefined) return nobodyAnswered;
    const cursor = head === undefined || kind === "pending" ? await pending.end() : blockCursor(head);
    const made = await store.create(key.id, { kind, criteria, cursor });
    if (made === "tooLarge") {
      return refusal(
        "rate_limited",
        `The filters of this API key together may have at most ${bytesPerKeyMax} bytes; remove one with eth_uninstallFilter, or name fewer addresses and topics`,
        { data: { bytesPerKeyMax } },
      );
    }
    if (made !== "tooMany") return ownAnswer(`"${made.id}"`);
    return refusal(
      "rate_limited",
      `This API key has ${perKeyMax} filters, its limit; remove one with eth_uninstallFilter`,
    );
  };
}
