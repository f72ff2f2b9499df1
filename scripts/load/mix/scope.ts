import type { PlaceholderName } from "./mix-schema.ts";
import { isPlaceholder } from "./mix-schema.ts";
import { oneOf } from "./random.ts";
import type { RecentBlocks } from "./recent-blocks.ts";
import type { Scope } from "./template.ts";

/** What each placeholder of the table stands for now: a random one of its list. */
export function createScope({
  accounts,
  senders,
  recentBlocks,
  random,
}: {
  accounts: readonly string[];
  senders: readonly string[];
  recentBlocks: RecentBlocks | undefined;
  random: () => number;
}): Scope {
  const lists: Readonly<Record<PlaceholderName, () => readonly string[]>> = {
    account: () => accounts,
    sender: () => senders,
    block: () => recentBlocks?.numbers() ?? [],
    blockHash: () => recentBlocks?.hashes() ?? [],
    transactionHash: () => recentBlocks?.transactions() ?? [],
  };
  return (name) => (isPlaceholder(name) ? oneOf(lists[name](), random) : undefined);
}
