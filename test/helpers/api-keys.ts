import { createKeyStore } from "../../lib/keys/key-store.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { connectAdmin } from "./redis.ts";

type KeyStore = ReturnType<typeof createKeyStore>;
type Settings = Partial<Parameters<KeyStore["create"]>[0]>;
export type MadeKey = Extract<Awaited<ReturnType<KeyStore["create"]>>, { outcome: "created" }>;

/**
 * The keys in a Redis as the command line opens them: over a connection of its own, which outlives a Redis that is killed,
 * closed when the test ends. The team "partners" is there.
 */
export async function openKeyStore(t: Teardown, redisUrl: string) {
  const admin = await connectAdmin(t, redisUrl);
  const store = createKeyStore({ redis: admin });
  await store.setTeam({ name: "partners" });
  return { admin, store, create: (settings: Settings = {}) => createKey(store, settings) };
}

/** A development key of the team "partners" for RPC unless told otherwise. @throws Error where there is none made. */
export async function createKey(store: KeyStore, settings: Settings = {}): Promise<MadeKey> {
  const made = await store.create({
    team: "partners",
    label: "a test",
    permissions: ["rpc"],
    qa: false,
    profile: "development",
    ...settings,
  });
  if (made.outcome !== "created") throw new Error(made.outcome);
  return made;
}
