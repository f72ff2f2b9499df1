import { readFileSync } from "node:fs";
import { licencesPage, listLicences, refusedLicences } from "../release/licences/list-licences.ts";
import { readLock } from "../release/lock/lock-file.ts";

/** Packages under licences that nobody has allowed, and whether the list of them is true; a line each. */
export function checkLicences(): string[] {
  const packages = listLicences(readLock(new URL("../../package-lock.json", import.meta.url)));
  const written = readFileSync(new URL("../../docs/licences.md", import.meta.url), "utf8");
  const stale =
    written === licencesPage(packages)
      ? []
      : ["docs/licences.md is not true any more: npm run release -- licences"];
  return [...refusedLicences(packages), ...stale];
}
