import type { CallToForward } from "../call.ts";
import { isStreamed, type WholeAnswer } from "../upstream/pool/pool-answer.ts";
import type { AnnouncedHead, Upstream } from "../upstream/upstream.ts";
import type { Asked, Entry, Shelf } from "./entry.ts";
import { createForeverShelf } from "./forever-shelf.ts";
import { createHeadShelf } from "./head-shelf.ts";
import { isRememberable } from "./rememberable.ts";

export type Memory = {
  /**
   * The answer to a call: at once where it is remembered, else from a validator, which is asked once for all who ask
   * the same meanwhile. Never throws; a stream has to be started or aborted.
   */
  ask(call: CallToForward, options: MemoryOptions): WholeAnswer | Promise<Asked>;
  stats(): MemoryStats;
  stop(): void;
};

export type MemoryOptions = {
  group: string;
  mayStream: boolean;
  /** The head of the call's body; undefined where there was none. */
  head: AnnouncedHead | undefined;
  /** Memory is passed by, and has the new answer afterwards. */
  isFresh: boolean;
  /** Is told where the answer comes from, for who wants to know. */
  note?: (source: Source) => void;
};

/** From memory; from a validator; from a validator that somebody else was asking already. */
export type Source = "hit" | "miss" | "join";

export type ClassStats = Record<"hits" | "misses" | "joins" | "entries" | "bytes", number>;
export type MemoryStats = Record<"head" | "forever", ClassStats>;

/** A longer question is not worth its place. */
const keyCharsMax = 4096;

/** Where `bytesMax` is 0 nothing is remembered and nothing shared. */
export function createMemory({
  upstream,
  settings: { bytesMax, entryBytesMax },
  monotonicMs,
}: {
  upstream: Pick<Upstream, "ask" | "head" | "onHead" | "onEpoch">;
  settings: { bytesMax: number; entryBytesMax: number };
  monotonicMs: () => number;
}): Memory {
  // What holds for one block only is worth less room than what never changes.
  const newHeadShelf = () => createHeadShelf({ bytesMax: Math.floor(bytesMax / 4) });
  const newForeverShelf = () => createForeverShelf({ bytesMax: Math.max(1, Math.ceil((bytesMax * 3) / 4)) });
  let headShelf = newHeadShelf();
  // Its identity stands for the chain: another epoch has another shelf.
  let foreverShelf = newForeverShelf();
  const counts = { head: newCounts(), forever: newCounts() };

  const stopListening = [
    upstream.onHead(() => {
      headShelf = newHeadShelf();
    }),
    upstream.onEpoch(() => {
      headShelf = newHeadShelf();
      foreverShelf = newForeverShelf();
    }),
  ];

  function shelfOf({ about }: CallToForward, head: AnnouncedHead): Shelf {
    return about === "head" || about === head.number ? headShelf : foreverShelf;
  }

  function mayHold({ rule, about = "open" }: CallToForward, head: AnnouncedHead): boolean {
    if (bytesMax === 0 || rule.cache === "never" || about === "open") return false;
    return typeof about !== "number" || about <= head.number;
  }

  function answer(
    call: CallToForward,
    { key, head, options }: { key: string; head: AnnouncedHead; options: AskOptions },
  ): WholeAnswer | Promise<Asked> {
    const shelf = shelfOf(call, head);
    const count = shelf === headShelf ? counts.head : counts.forever;
    const entry = options.isFresh ? undefined : shelf.find(key);
    if (entry?.answer !== undefined) {
      count.hits += 1;
      options.note?.("hit");
      return entry.answer;
    }
    if (entry?.asking !== undefined) {
      count.joins += 1;
      options.note?.("join");
      return join(call, { key, asking: entry.asking, options });
    }
    count.misses += 1;
    options.note?.("miss");
    return lead(call, { key, shelf, options });
  }

  async function lead(
    call: CallToForward,
    { key, shelf, options }: { key: string; shelf: Shelf; options: AskOptions },
  ): Promise<Asked> {
    const chain = foreverShelf;
    const asking = upstream.ask(call, options);
    const entry: Entry = { answer: undefined, asking };
    if (!options.isFresh) shelf.open(key, entry);
    const answer = await asking;
    entry.asking = undefined;
    const home = chain === foreverShelf ? homeOf(call, { answer, shelf }) : undefined;
    if (home !== shelf) shelf.drop(key, entry);
    if (home === undefined || typeof answer === "string" || isStreamed(answer)) return answer;
    entry.answer = ownCopy(answer);
    home.keep(key, entry);
    return answer;
  }

  /** Where the answer is to be kept now: the head may have moved since it was asked for. */
  function homeOf(
    call: CallToForward,
    { answer, shelf }: { answer: Asked; shelf: Shelf },
  ): Shelf | undefined {
    const head = upstream.head();
    if (head === undefined || !isRememberable(answer, call, head)) return undefined;
    if (answer.afterId.length > entryBytesMax) return undefined;
    return call.about === "head" && shelf !== headShelf ? undefined : shelfOf(call, head);
  }

  /**
   * Waits for somebody else's answer. Where it failed the question is asked once more, within this call's own time, and
   * again by one for all who waited; a stream has one reader, so that the others ask for themselves.
   */
  async function join(
    call: CallToForward,
    { key, asking, options }: { key: string; asking: Promise<Asked>; options: AskOptions },
  ): Promise<Asked> {
    const startedMs = monotonicMs();
    let shared = await asking;
    const head = upstream.head();
    if (shared === "unavailable" && head !== undefined) {
      const shelf = shelfOf(call, head);
      const other = shelf.find(key);
      if (other?.answer !== undefined) return other.answer;
      if (other?.asking === undefined) return lead(call, { key, shelf, options: withTimeLeft(startedMs) });
      shared = await other.asking;
    }
    if (typeof shared === "string" || !isStreamed(shared)) return shared;
    return upstream.ask(call, withTimeLeft(startedMs));

    function withTimeLeft(sinceMs: number): AskOptions {
      return { ...options, timeoutMs: Math.max(0, call.rule.timeoutMs - (monotonicMs() - sinceMs)) };
    }
  }

  return {
    ask(call, options) {
      if (call.rule.name === "eth_blockNumber" && options.head !== undefined) {
        counts.head.hits += 1;
        options.note?.("hit");
        return options.head.blockNumber;
      }
      const head = upstream.head();
      if (head === undefined || !mayHold(call, head)) return pass(call, options);
      const key = call.rule.name + call.paramsText;
      // Looking at its last character has V8 write the pieces of the text into one: as pieces they would keep alive the
      // body that they were cut from.
      if (key.length > keyCharsMax || key.charCodeAt(key.length - 1) !== closingBracket) {
        return pass(call, options);
      }
      return answer(call, { key, head, options });
    },
    stats: () => ({
      head: { ...counts.head, entries: headShelf.entries(), bytes: headShelf.bytes() },
      forever: { ...counts.forever, entries: foreverShelf.entries(), bytes: foreverShelf.bytes() },
    }),
    stop() {
      for (const stop of stopListening) stop();
    },
  };

  function pass(call: CallToForward, options: MemoryOptions): Promise<Asked> {
    options.note?.("miss");
    return upstream.ask(call, options);
  }
}

type AskOptions = MemoryOptions & { timeoutMs?: number };

const closingBracket = 0x5d;
const closingBrace = 0x7d;

function newCounts() {
  return { hits: 0, misses: 0, joins: 0 };
}

/**
 * Without the text of all answers of its array, which a slice of it keeps alive: a new text is joined of two pieces, and
 * looking at its last character writes it into one (a third of what a copy by way of a Buffer costs).
 */
function ownCopy(answer: WholeAnswer): WholeAnswer {
  const { beforeId, isAscii, validator, wasAtHead } = answer;
  const afterId = `${answer.afterId.slice(0, -1)}}`;
  if (afterId.charCodeAt(afterId.length - 1) !== closingBrace) return answer;
  return { beforeId, afterId, isAscii, validator, wasAtHead };
}
