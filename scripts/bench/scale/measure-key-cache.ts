import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createKnownKeys } from "../../../gateway/auth/known-keys.ts";
import type { FoundKey } from "../../../lib/keys/key-reader.ts";

const keys = 20_000;

/** What a key takes in a gateway process's memory once it was used. */
export function measureKeyCache(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const known = createKnownKeys({ hearsChanges: () => true, monotonicMs: () => 0 });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < keys; index += 1) {
    const hash = index.toString(16).padStart(64, "0");
    known.keep(hash, { key: keyOf(index, hash), readAtMs: index }, { stale: false });
  }
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / keys;
  if (known.fresh("0".repeat(64), 0) === undefined) throw new Error("the first key is not kept");
  return Math.round(bytes);
}

/** As a reader makes one of what Redis says: with texts of its own. */
function keyOf(index: number, hash: string): FoundKey {
  return structuredClone({
    ...{ id: `bench${index}`, hash, label: `key ${index}`, team: `team-${index % 2000}`, qa: false },
    profile: "development" as const,
    ...{ permissions: ["rpc" as const], createdAtMs: index, limitPerMinute: 100 },
    teamSettings: { name: `team-${index % 2000}` },
  });
}
