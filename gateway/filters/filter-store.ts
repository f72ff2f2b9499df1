import { randomBytes } from "node:crypto";
import { filterIndexKey, filterRowKey } from "../../lib/redis/keys/gateway.ts";
import type { RedisClient } from "../../lib/redis/redis-client.ts";
import { runScript, type Script } from "../../lib/redis/run-script.ts";
import { createScript, moveScript, readScript, removeScript } from "./filter-scripts.ts";

export type FilterKind = "logs" | "blocks" | "pending";

/** `criteria` is JSON of the kind's own; `cursor` tells how far it was polled. */
export type FilterRow = { kind: FilterKind; criteria: string; cursor: string };

/** Whose filter: a filter is found only by the key that made it. */
export type FilterName = { keyId: string; id: string };

/** Every function rejects where Redis does not answer. */
export type FilterStore = {
  /** The new filter's id; or that the key has as many as it may, or that they would take more bytes than they may. */
  create(keyId: string, row: FilterRow): Promise<{ id: string } | "tooMany" | "tooLarge">;
  /** Counts as a use of the filter. */
  read(name: FilterName): Promise<FilterRow | undefined>;
  /** Moves the cursor if it is still `before`. Of two polls at once only one succeeds, and only it may answer with what it found. */
  move(name: FilterName, cursors: { before: string; next: string }): Promise<boolean>;
  remove(name: FilterName): Promise<boolean>;
};

/** Filters in Redis, so that any gateway can answer any poll, and a gateway that dies takes none with it. */
export function createFilterStore({
  redis,
  settings,
}: {
  redis: RedisClient;
  /** Read anew each time. `bytesPerKeyMax` is of criteria. */
  settings: { idleMsMax: number; perKeyMax: number; bytesPerKeyMax: number };
}): FilterStore {
  const run = (script: Script, { keyId, id }: FilterName, args: (string | number)[] = []) =>
    runScript({
      redis,
      script,
      keys: [filterIndexKey(keyId), filterRowKey({ keyId, id })],
      args: [id, settings.idleMsMax, ...args],
    });

  return {
    async create(keyId, { kind, criteria, cursor }) {
      const id = `0x${randomBytes(16).toString("hex")}`;
      const row = ["kind", kind, "criteria", criteria, "cursor", cursor];
      const bounds = [settings.perKeyMax, settings.bytesPerKeyMax, Buffer.byteLength(criteria)];
      const made = await run(createScript, { keyId, id }, [...bounds, ...row]);
      if (made === 1) return { id };
      return made === -1 ? "tooLarge" : "tooMany";
    },
    async read(name) {
      const row = await run(readScript, name);
      if (!Array.isArray(row)) return undefined;
      const [kind, criteria, cursor] = row;
      return isKind(kind) ? { kind, criteria: String(criteria), cursor: String(cursor) } : undefined;
    },
    async move(name, { before, next }) {
      return (await run(moveScript, name, [before, next])) === 1;
    },
    async remove(name) {
      return (await run(removeScript, name)) === 1;
    },
  };
}

function isKind(value: unknown): value is FilterKind {
  return value === "logs" || value === "blocks" || value === "pending";
}
