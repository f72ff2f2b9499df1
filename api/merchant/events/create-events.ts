import type { Logger } from "pino";
import { z } from "zod";
import type { Queryable } from "../../../lib/postgres/queryable.ts";
import type { KeyCaller } from "../../rest/security.ts";
import { idOf } from "../public-id.ts";
import { createEventStreams, type EventStreamSettings } from "./event-streams.ts";
import { type EventPosition, readEvents } from "./read-events.ts";

export type Events = Pick<ReturnType<typeof createEvents>, "list" | "open">;

/** A list ends early rather than being larger. */
const listBytesMax = 1_048_576;
const keyId = idOf("key");
const anObject = z.looseObject({});

/** What a wallet's programs read of its events, as a list or as a stream. */
export function createEvents({
  db,
  settings,
  heartbeatMs,
  logger,
  now,
}: {
  db: Pick<Queryable, "query">;
  settings: EventStreamSettings;
  heartbeatMs: number;
  logger: Pick<Logger, "info" | "warn">;
  now: () => number;
}) {
  const streams = createEventStreams({ db, settings, heartbeatMs, logger, now });
  return {
    async list(wallet: string, { after, limit }: { after: EventPosition; limit: number }) {
      const page = await readEvents(db, { wallet, after, limit, bytesMax: listBytesMax });
      const { events, latest, removedUpTo, nextAfter } = page;
      const data = events.map(({ body }) => anObject.parse(JSON.parse(body)));
      return { data, nextAfter, hasMore: nextAfter < latest, latest, removedUpTo };
    },

    open: (caller: KeyCaller, { after, address }: { after: EventPosition; address: string }) =>
      streams.open({ keyId: keyId.parse(caller.keyId), wallet: caller.wallet, after, address }),

    streams: streams.count,
    start: streams.start,
    stop: streams.stop,
  };
}
