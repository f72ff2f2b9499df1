import type { BodySettings } from "../config.ts";

/** Whose budget was used up: the key's, the address's, or that of the whole process. */
export const bodyScopes = ["key", "address", "process"] as const;
export type BodyScope = (typeof bodyScopes)[number];

/** One body that is being read, or waits for its key to be looked up. */
export type HeldBody = {
  /** The body holds this many more bytes. May drop this body or others. */
  hold(bytes: number): void;
  /** The body has ended: it no longer counts among those that are being read. */
  end(): void;
  /** The key is known now, so the body counts for it. May drop this body or others. */
  assign(keyId: string): void;
  /** The body holds nothing any more. Call it once the body is used, and when its client is gone. */
  release(): void;
};

export type BodyBudget = {
  /** `drop` is called when the body loses its place. It is not counted any more then. */
  begin(options: { address: string; drop: (scope: BodyScope) => void }): HeldBody;
  reading(): number;
  heldBytes(): number;
  /** How many bodies were dropped, by whose budget was used up. */
  dropped(): ReadonlyMap<BodyScope, number>;
};

type Pool = { reading: Set<Body>; bytes: number };
type Body = {
  bytes: number;
  sinceMs: number;
  isOver: boolean;
  pools: Record<BodyScope, Pool>;
  drop: (scope: BodyScope) => void;
};

/** The names of each scope's bounds. */
const boundsOf = {
  key: { reading: "readingPerKeyMax", bytes: "heldBytesPerKeyMax" },
  address: { reading: "readingPerAddressMax", bytes: "heldBytesPerAddressMax" },
  process: { reading: "readingMax", bytes: "heldBytesMax" },
} as const satisfies Record<BodyScope, Record<"reading" | "bytes", keyof BodySettings>>;

/** The pool of all bodies whose key is not known yet. */
const strangers = "";
/** Credit for each body, so that one that has just begun does not look as if it made no progress. */
const graceBytes = 64 * 1024;
const graceMs = 1000;

/**
 * Bounds the bodies that are being read, by count and by bytes, for each key, each address and the whole process. If there
 * is one too many, the body with the least progress (bytes by time) is dropped. So a client that sends slowly on purpose
 * loses against one that uploads. Bodies that come whole with their head are never held, so they are not counted here.
 */
export function createBodyBudget({
  settings,
  monotonicMs,
}: {
  /** Read anew for each piece of a body. */
  settings: Readonly<BodySettings>;
  monotonicMs: () => number;
}): BodyBudget {
  const whole = createPool();
  const byKey = new Map<string, Pool>();
  const byAddress = new Map<string, Pool>();
  const dropped = new Map<BodyScope, number>();

  function poolOf(pools: Map<string, Pool>, name: string): Pool {
    const pool = pools.get(name) ?? createPool();
    pools.set(name, pool);
    return pool;
  }

  function check(body: Body): void {
    for (const scope of bodyScopes) {
      const pool = body.pools[scope];
      const readingMax = settings[boundsOf[scope].reading];
      const bytesMax = settings[boundsOf[scope].bytes];
      while (!body.isOver && (pool.reading.size > readingMax || pool.bytes > bytesMax)) {
        const victim = leastProgressed(pool.reading, monotonicMs()) ?? body;
        dropped.set(scope, (dropped.get(scope) ?? 0) + 1);
        victim.isOver = true;
        victim.drop(scope);
      }
      if (body.isOver) return;
    }
  }

  return {
    begin({ address, drop }) {
      let keyId = strangers;
      const pools = { key: poolOf(byKey, keyId), address: poolOf(byAddress, address), process: whole };
      const body: Body = { bytes: 0, sinceMs: monotonicMs(), isOver: false, pools, drop: () => {} };
      let isReleased = false;
      const forget = (scope: BodyScope) => {
        const pool = pools[scope];
        pool.reading.delete(body);
        pool.bytes -= body.bytes;
      };
      const dropIfEmpty = (all: Map<string, Pool>, name: string) => {
        const pool = all.get(name);
        if (pool?.reading.size === 0 && pool.bytes === 0) all.delete(name);
      };
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        body.isOver = true;
        for (const scope of bodyScopes) forget(scope);
        dropIfEmpty(byKey, keyId);
        dropIfEmpty(byAddress, address);
      };
      body.drop = (scope) => {
        release();
        drop(scope);
      };
      for (const scope of bodyScopes) pools[scope].reading.add(body);
      return {
        hold(bytes) {
          if (isReleased) return;
          body.bytes += bytes;
          for (const scope of bodyScopes) pools[scope].bytes += bytes;
          check(body);
        },
        end() {
          for (const scope of bodyScopes) pools[scope].reading.delete(body);
        },
        assign(key) {
          if (isReleased) return;
          const isReading = pools.key.reading.has(body);
          forget("key");
          dropIfEmpty(byKey, keyId);
          keyId = key;
          pools.key = poolOf(byKey, key);
          pools.key.bytes += body.bytes;
          if (isReading) pools.key.reading.add(body);
          check(body);
        },
        release,
      };
    },
    reading: () => whole.reading.size,
    heldBytes: () => whole.bytes,
    dropped: () => dropped,
  };
}

function createPool(): Pool {
  return { reading: new Set(), bytes: 0 };
}

function leastProgressed(bodies: ReadonlySet<Body>, nowMs: number): Body | undefined {
  let least: Body | undefined;
  let leastRate = Number.POSITIVE_INFINITY;
  for (const body of bodies) {
    const rate = (body.bytes + graceBytes) / (nowMs - body.sinceMs + graceMs);
    if (rate < leastRate) {
      least = body;
      leastRate = rate;
    }
  }
  return least;
}
