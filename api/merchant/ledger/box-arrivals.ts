import type { RpcClient } from "../../../lib/chain/rpc-client.ts";
import { type BlockHeader, ChainEvidenceError } from "./block-headers.ts";
import type { PlacedFeeEvent } from "./fee-events.ts";
import { readBalances, type WatchedBox } from "./watched-boxes.ts";

/** What had arrived for an invoice after a block, where that is more than before. */
export type BoxArrival = {
  /** The order's id on chain. */
  id: string;
  box: string;
  block: BlockHeader;
  /** All that had arrived by then; what came before it is not subtracted. */
  receivedAfter: bigint;
};

/** Of the range, by its index in `headers`: more than `received` arrived in `first` to `last`, the target by its end. */
type Search = { box: WatchedBox; first: number; last: number; target: bigint };

/**
 * What has arrived in boxes by the end of a range: what the FeeCollector had passed on by then and what lies in the box, an
 * absolute number that only grows. Contracts' transfers are in it, which leave no log. Where an invoice ends within the range
 * the amount at its end is asked as well, so that the blocks' own time decides what is late; the block of each is found by
 * halving.
 *
 * @returns undefined where the node has no state of the range's end any more.
 * @throws ChainUnavailableError where the chain cannot be asked.
 * @throws ChainEvidenceError where less lies there than had arrived before.
 */
export async function readBoxArrivals({
  rpc,
  boxes,
  headers,
  events,
}: {
  rpc: Pick<RpcClient, "askAll">;
  boxes: readonly WatchedBox[];
  headers: readonly BlockHeader[];
  events: readonly PlacedFeeEvent[];
}): Promise<BoxArrival[] | undefined> {
  const bookedAt = createBookedAt(events);
  const end = headers.length - 1;

  /** All that had arrived for each box after the block at its index. */
  async function totalsAt(
    looks: readonly { box: WatchedBox; index: number }[],
  ): Promise<(bigint | undefined)[]> {
    const placed = looks.map(({ box, index }) => ({ box: box.box, block: headers[index]?.number ?? 0 }));
    const balances = await readBalances(rpc, placed);
    return looks.map(({ box }, at) => {
      const balance = balances[at];
      return balance === undefined ? undefined : balance + bookedAt(box, placed[at]?.block ?? 0);
    });
  }

  const totals = await totalsAt(boxes.map((box) => ({ box, index: end })));
  if (totals.includes(undefined)) return undefined;
  const grown = boxes.flatMap((box, at) => {
    const total = totals[at] ?? 0n;
    if (total < box.received) {
      throw new ChainEvidenceError(`of ${box.received} wei in ${box.box} ${total} are left`);
    }
    return total === box.received ? [] : [{ box, total, last: lastInTime(headers, box.expiresAt) }];
  });
  const ending = grown.filter(({ last }) => last >= 0 && last < end);
  const inTime = await totalsAt(ending.map(({ box, last }) => ({ box, index: last })));
  const totalInTime = new Map(ending.map(({ box }, at) => [box, inTime[at]]));

  const searches = grown.flatMap(({ box, total, last }): Search[] => {
    const early = totalInTime.get(box);
    if (early === undefined) return [{ box, first: 0, last: end, target: total }];
    if (early < box.received || early > total) {
      throw new ChainEvidenceError(`what arrived in ${box.box} goes down and up again`);
    }
    return [
      ...(early > box.received ? [{ box, first: 0, last, target: early }] : []),
      ...(total > early ? [{ box, first: last + 1, last: end, target: total }] : []),
    ];
  });
  await halve(searches, totalsAt);
  return searches.map(({ box, last, target }) => {
    const block = headers[last];
    if (block === undefined) throw new ChainEvidenceError("a range without blocks");
    return { id: box.id, box: box.box, block, receivedAfter: target };
  });
}

/** Narrows all searches down together to the first block after which their target has arrived. */
async function halve(
  searches: readonly Search[],
  totalsAt: (looks: { box: WatchedBox; index: number }[]) => Promise<(bigint | undefined)[]>,
): Promise<void> {
  for (;;) {
    const open = searches.filter(({ first, last }) => first < last);
    if (open.length === 0) return;
    const middles = open.map(({ box, first, last }) => ({ box, index: (first + last) >> 1 }));
    const totals = await totalsAt(middles);
    for (const [at, search] of open.entries()) {
      const index = middles[at]?.index ?? search.first;
      const total = totals[at];
      // Where the state is gone it counts as not yet arrived.
      if (total === undefined || total < search.target) search.first = index + 1;
      else search.last = index;
    }
  }
}

/** What the FeeCollector had passed on of a box after a block. */
function createBookedAt(events: readonly PlacedFeeEvent[]) {
  const byId = Map.groupBy(events, ({ id }) => id);
  return ({ id, booked }: WatchedBox, block: number): bigint => {
    const last = byId.get(id)?.findLast((event) => event.block.number <= block);
    return last === undefined ? booked : receivedBy(last);
  };
}

/** All that had arrived for the order when the FeeCollector said so: then its box was empty. */
export function receivedBy(event: PlacedFeeEvent): bigint {
  return event.kind === "paid" ? event.amount : event.received;
}

/** The index of the last block up to `expiresAt`; -1 where all are later. */
function lastInTime(headers: readonly BlockHeader[], expiresAt: number): number {
  return headers.findLastIndex(({ timestamp }) => timestamp <= expiresAt);
}
