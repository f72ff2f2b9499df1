import type { Logger } from "pino";
import { blockRecordOf } from "../chain/block-record.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { RpcBlock } from "../chain/rpc-records.ts";

/** A block as clients are told of it; `text` is the whole event. */
export type LiveBlock = { number: number; hash: string; text: string };

export type RecentBlocks = {
  /** A new head. Blocks between it and the last one are read before it is told of. */
  add(head: RpcBlock): void;
  newest(): LiveBlock | undefined;
  /** The blocks after the one of this hash, oldest first; undefined where it is not among those that are kept. */
  after(hash: string): readonly LiveBlock[] | undefined;
  stop(): void;
};

/** While the chain does not answer, what it was asked for is asked for again after so long. */
const retryMs = 1000;

/**
 * The newest blocks in their order, each linked to the one before by its hash, so that every block is told of once
 * however fast they come. A process that has just started reads those before its first head as well: clients come to it
 * from others.
 *
 * What does not link to the last block, or is further away than is kept, begins anew (`onReset`): another chain, or a
 * time in which the chain was not seen.
 */
export function createRecentBlocks({
  reader,
  blocksMax,
  onBlock,
  onReset,
  logger,
}: {
  reader: Pick<ChainReader, "block">;
  blocksMax: number;
  onBlock: (block: LiveBlock) => void;
  onReset: () => void;
  logger: Pick<Logger, "warn">;
}): RecentBlocks {
  let recent: LiveBlock[] = [];
  /** The newest head that was told while another was being added. */
  let waiting: RpcBlock | undefined;
  let isAdding = false;
  let isStopped = false;

  async function addWaiting(): Promise<void> {
    if (isAdding || isStopped || waiting === undefined) return;
    const head = waiting;
    waiting = undefined;
    isAdding = true;
    try {
      await link(head);
    } catch (error) {
      logger.warn({ err: error, block: head.number }, "blocks before the newest cannot be read");
      waiting ??= head;
      setTimeout(addWaiting, retryMs).unref();
      return;
    } finally {
      isAdding = false;
    }
    void addWaiting();
  }

  async function link(head: RpcBlock): Promise<void> {
    const last = recent.at(-1);
    // A block that is known already: a late answer, or a chain that was turned back and goes on from there.
    if (recent.some(({ hash }) => hash === head.hash)) return;
    const first = last === undefined ? Math.max(0, head.number - blocksMax + 1) : last.number + 1;
    const isFarAway = head.number < first || head.number - first >= blocksMax;
    const between = isFarAway ? undefined : await readLinked({ reader, first, head });
    if (isStopped) return;
    if (last === undefined) {
      recent = (between ?? []).map(liveBlockOf);
      tell(head);
    } else if (between !== undefined && (between[0] ?? head).parentHash === last.hash) {
      for (const block of [...between, head]) tell(block);
    } else {
      recent = [liveBlockOf(head)];
      onReset();
    }
  }

  function tell(block: RpcBlock): void {
    const told = liveBlockOf(block);
    recent.push(told);
    if (recent.length > blocksMax) recent.shift();
    onBlock(told);
  }

  return {
    add(head) {
      waiting = head;
      void addWaiting();
    },
    newest: () => recent.at(-1),
    after(hash) {
      const at = recent.findIndex((block) => block.hash === hash);
      return at === -1 ? undefined : recent.slice(at + 1);
    },
    stop() {
      isStopped = true;
    },
  };
}

/** Blocks from `first` to the one before `head`; undefined where they are not its ancestors. */
async function readLinked({
  reader,
  first,
  head,
}: {
  reader: Pick<ChainReader, "block">;
  first: number;
  head: RpcBlock;
}): Promise<RpcBlock[] | undefined> {
  const numbers = Array.from({ length: head.number - first }, (_, index) => first + index);
  const blocks: RpcBlock[] = [];
  for (let at = 0; at < numbers.length; at += readsAtOnce) {
    const read = await Promise.all(numbers.slice(at, at + readsAtOnce).map((number) => reader.block(number)));
    for (const block of read) if (block !== undefined) blocks.push(block);
  }
  const isWhole = blocks.length === numbers.length;
  const isLinked = blocks.every(({ hash }, index) => (blocks[index + 1] ?? head).parentHash === hash);
  return isWhole && isLinked ? blocks : undefined;
}

const readsAtOnce = 16;

function liveBlockOf(block: RpcBlock): LiveBlock {
  const { number, hash, timestamp, timestampUnix, proposer, gasUsed, transactionCount } =
    blockRecordOf(block);
  const told = { number, hash, timestamp, timestampUnix, proposer, gasUsed, transactionCount };
  return { number, hash, text: eventText({ name: "block", block, data: told }) };
}

/** An event (WHATWG HTML 9.2.6). Its id says which block a client has seen last; it has none before the first. */
export function eventText({
  name,
  block,
  data,
}: {
  name: "block" | "reset";
  block: { number: number; hash: string } | undefined;
  data: object;
}): string {
  const id = block === undefined ? "" : `id: ${block.number}.${block.hash}\n`;
  return `event: ${name}\n${id}data: ${JSON.stringify(data)}\n\n`;
}
