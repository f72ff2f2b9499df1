import { readFileSync } from "node:fs";
import { findMissing, findUnhashed } from "./complete-lock.ts";
import { isForPlatforms, type Lock, readLock, registryName } from "./lock-file.ts";

/** The packages whose content package-lock.json does not pin; `npm run release -- lock` writes it. */
export const unhashedFile = new URL("without-hash.txt", import.meta.url);

/**
 * What keeps `npm ci` from working on some platform, or from installing what the lock file means, a line each.
 * @param known - The packages of which it is known that they have no hash.
 */
export function checkLock(lock: Lock, known: readonly string[]): string[] {
  const missing = findMissing(lock).map(({ name, version }) => `${name}@${version} has no entry`);
  const urls = Object.entries(lock.packages)
    .filter(([, { resolved }]) => resolved !== undefined)
    .map(([place, { resolved }]) => `${place} names a registry, ${resolved}`);
  const unhashed = findUnhashed(lock);
  const unknown = unhashed
    .filter((name) => !known.includes(name))
    .map((name) => `${name} has no hash, and is not in without-hash.txt`);
  const stale = known
    .filter((name) => !unhashed.includes(name))
    .map((name) => `${name} is in without-hash.txt, and has a hash or is gone`);
  const unpinned = Object.entries(lock.packages)
    .filter(([place, locked]) => place !== "" && locked.integrity === undefined && mustBePinned(locked))
    .map(
      ([place, locked]) =>
        `${registryName(place, locked)}@${locked.version} runs in production and has no hash`,
    );
  return [...missing, ...urls, ...unknown, ...stale, ...unpinned].map(
    (problem) => `package-lock.json: ${problem} (npm run release -- lock)`,
  );
}

/** What an image or everybody gets. */
function mustBePinned(locked: Lock["packages"][string]): boolean {
  return !isForPlatforms(locked) || (locked.dev !== true && [locked.os].flat().includes("linux"));
}

/** The repository's own files. */
export function checkOwnLock(): { problems: string[]; unhashed: readonly string[] } {
  const lock = readLock(new URL("../../../package-lock.json", import.meta.url));
  const unhashed = readFileSync(unhashedFile, "utf8").split("\n").filter(Boolean);
  return { problems: checkLock(lock, unhashed), unhashed };
}
