import { readFile } from "node:fs/promises";
import { hashApiKey, type Profile } from "../../lib/keys/api-key.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import { replaceFile } from "./replace-file.ts";

/** Far above a partner's: an index that begins anew asks for the whole chain. */
const limitPerMinute = 10_000_000;

/**
 * The key with which one of our services asks the gateway: the one of an earlier start, if Redis still knows it and it is of
 * the same profile; else a new one, in a team of the service's own. It is stored in `file`, which nobody else can read.
 * @throws Error where Redis does not answer or takes no more keys; CommandError where the file cannot be written.
 */
export async function ensureServiceKey({
  store,
  service,
  label,
  file,
  profile,
}: {
  store: KeyStore;
  /** The team's name. */
  service: string;
  label: string;
  file: string;
  profile: Profile;
}): Promise<{ secret: string; isNew: boolean }> {
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  const known = kept === "" ? undefined : await store.find(hashApiKey(kept));
  // A key with an end was rotated, and the operator has the next one.
  const isGood =
    known?.profile === profile && known.revokedAtMs === undefined && known.expiresAtMs === undefined;
  if (isGood) return { secret: kept, isNew: false };
  await store.setTeam({ name: service, limitPerMinute });
  const made = await store.create({
    team: service,
    label,
    permissions: ["rpc", "explorer"],
    qa: false,
    profile,
  });
  if (made.outcome !== "created") throw new Error(`no key can be made for the ${service}: ${made.outcome}`);
  await replaceFile({ file, text: `${made.secret}\n`, what: "The key" });
  return { secret: made.secret, isNew: true };
}
