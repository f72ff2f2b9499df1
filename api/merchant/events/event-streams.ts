import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import { readInteger, readText } from "../../../lib/postgres/row.ts";
import { createFollowLoop } from "../../follower/follow-loop.ts";
import { createLiveClients, type LiveClient } from "../../live/live-clients.ts";
import { type EventStream, streamRefusals } from "../../live/open-event-stream.ts";
import { type EventPosition, readEvents } from "./read-events.ts";
import { beginText, eventText, heartbeatText } from "./stream-text.ts";

type Stream = LiveClient & {
  /** UUID of the key that opened it. */
  keyId: string;
  wallet: string;
  after: EventPosition;
  /** Whether it was told from where it goes on. */
  hasBegun: boolean;
  /** Since when it has not read what was written to it. */
  unreadSinceMs: number | undefined;
};

/** Read for each stream that is opened. */
export type EventStreamSettings = {
  readonly clientsMax: number;
  readonly perAddressMax: number;
  readonly perWalletMax: number;
};

export type EventStreams = ReturnType<typeof createEventStreams>;

/** What is read of a wallet at once, and so what a stream that does not read holds. */
const pageEvents = 50;
const pageBytesMax = 262_144;
/** Streams that are behind are read for side by side, so that requests find a connection to PostgreSQL as well. */
const readsAtOnceMax = 3;
const unreadMaxMs = 30_000;

/**
 * Streams of wallets' events. One statement a second and process tells what is new for all of them, and whose key has ended since;
 * a page is read only for who is behind, and the next one only when it has read the one before.
 */
export function createEventStreams({
  db,
  settings,
  heartbeatMs,
  logger,
  now,
  pollMs = 1000,
  retryMinMs = 250,
  monotonicMs = () => performance.now(),
}: {
  db: Pick<Queryable, "query">;
  settings: EventStreamSettings;
  heartbeatMs: number;
  logger: Pick<Logger, "info" | "warn">;
  now: () => number;
  pollMs?: number;
  retryMinMs?: number;
  monotonicMs?: () => number;
}) {
  const streams = createLiveClients<Stream>(settings);
  let isStopped = false;

  function refused(wallet: string, address: string): Refusal | undefined {
    const room = isStopped ? "stopping" : streams.room(address);
    if (room !== "free") return streamRefusals[room];
    let ofWallet = 0;
    for (const stream of streams.all()) if (stream.wallet === wallet) ofWallet += 1;
    return ofWallet < settings.perWalletMax ? undefined : tooManyOfWallet;
  }

  /** Whether it has read all that was written; one that has not for too long is let go. */
  function hasRead(stream: Stream): boolean {
    if (stream.response.writableLength === 0) {
      stream.unreadSinceMs = undefined;
      return true;
    }
    stream.unreadSinceMs ??= monotonicMs();
    if (monotonicMs() - stream.unreadSinceMs > unreadMaxMs) stream.response.destroy();
    return false;
  }

  async function writePage(stream: Stream): Promise<void> {
    const { wallet, after, hasBegun } = stream;
    const page = await readEvents(db, { wallet, after, limit: pageEvents, bytesMax: pageBytesMax });
    const isElsewhere = !hasBegun || page.removedUpTo !== null || page.after !== after;
    stream.hasBegun = true;
    stream.after = page.nextAfter;
    // At once: what one write leaves unread is no reason to let a stream go before the next.
    streams.write(stream, (isElsewhere ? beginText(page) : "") + page.events.map(eventText).join(""));
    if (!hasRead(stream)) stream.response.once("drain", loop.wake);
  }

  /** @returns whether somebody who has read everything is still behind. */
  async function round(): Promise<boolean> {
    // Who comes while PostgreSQL is asked was not asked for: its turn is the next round.
    const asked = [...streams.all()];
    const reading = asked.filter(hasRead);
    const latest = await readLatest(db, { keys: asked.map(({ keyId }) => keyId), nowMs: now() });
    for (const stream of asked) if (!latest.has(stream.keyId)) streams.finish(stream);
    const isBehind = (stream: Stream) =>
      latest.has(stream.keyId) && (!stream.hasBegun || stream.after !== latest.get(stream.keyId));
    const behind = reading.filter(isBehind);
    for (let at = 0; at < behind.length; at += readsAtOnceMax) {
      await Promise.all(behind.slice(at, at + readsAtOnceMax).map(writePage));
    }
    return behind.some((stream) => isBehind(stream) && hasRead(stream) && !stream.response.destroyed);
  }

  const loop = createFollowLoop({
    round: async () => streams.count() > 0 && (await round()),
    isLeader: () => true,
    onFailure: () => {},
    texts: { fails: "streams of events cannot go on", isOver: "streams of events go on" },
    ...{ pollMs, retryMinMs, logger, monotonicMs },
  });

  const heartbeat = setInterval(() => {
    for (const stream of streams.all()) if (hasRead(stream)) streams.write(stream, heartbeatText);
  }, heartbeatMs);
  heartbeat.unref();

  return {
    /** A stream of the wallet's events for who came with a key of it. */
    open({
      address,
      ...given
    }: {
      keyId: string;
      wallet: string;
      after: EventPosition;
      address: string;
    }): EventStream {
      return {
        refused: () => refused(given.wallet, address),
        begin(response: ServerResponse) {
          const stream = { ...given, address, response, hasBegun: false, unreadSinceMs: undefined };
          if (streams.add(stream)) loop.wake();
        },
      };
    },

    count: streams.count,
    start: () => loop.start(),

    /** Ends all; one that does not read is cut off. */
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(heartbeat);
      streams.end();
      await loop.stop();
    },
  };
}

/** The number of the last event by key, of those keys that are still good. */
async function readLatest(
  db: Pick<Queryable, "query">,
  { keys, nowMs }: { keys: readonly string[]; nowMs: number },
): Promise<Map<string, number>> {
  const { rows } = await db.query({
    name: "latest-events-of-keys",
    text: `select k.id, coalesce(s.last, 0) as last from svc.api_keys k left join svc.event_sequences s using (wallet)
      where k.id = any($1::uuid[]) and k.revoked_at is null and k.expires_at > $2`,
    values: [[...new Set(keys)], new Date(nowMs)],
  });
  return new Map(rows.map((row) => [readText(row, "id"), readInteger(row, "last")]));
}

const tooManyOfWallet = refusal(
  "rate_limited",
  "As many clients with keys of this wallet listen as it may have",
  {
    retryAfterMs: 10_000,
  },
);
