import { markdownTable } from "../../docs/markdown-table.ts";
import { type Lock, registryName } from "../lock/lock-file.ts";
import { isAllowed } from "./spdx-expression.ts";

/** Licences that ask for no more than their own text, or that changes of the package itself stay open. */
const permissive = [
  ...["MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0"],
  ...["Unlicense", "CC0-1.0", "Python-2.0", "Zlib", "MIT-0"],
];
const inProduction = new Set(permissive);
/** What is never given to anybody: tests and tools. Lists of names under CC-BY, libraries under LGPL and MPL. */
const inDevelopment = new Set([
  ...permissive,
  "MPL-2.0",
  "LGPL-3.0",
  "LGPL-3.0-only",
  "LGPL-3.0-or-later",
  "CC-BY-3.0",
  "CC-BY-4.0",
]);

/** Packages that do not tell their licence in a form that npm reads; it was looked up in the package, of this version. */
const lookedUp: Readonly<Record<string, string>> = {
  "jsonc-simple-parser@3.0.0": "MIT",
  "memorystream@0.3.1": "MIT",
};

export type LicensedPackage = { name: string; version: string; licence: string; production: boolean };

/** All packages of the lock file, of all platforms, once each. */
export function listLicences(lock: Lock): LicensedPackage[] {
  const packages = new Map<string, LicensedPackage>();
  for (const [place, locked] of Object.entries(lock.packages)) {
    if (place === "") continue;
    const name = registryName(place, locked);
    const version = locked.version ?? "";
    const id = `${name}@${version}`;
    const licence = locked.license ?? lookedUp[id] ?? "unknown";
    const production = locked.dev !== true || packages.get(id)?.production === true;
    packages.set(id, { name, version, licence, production });
  }
  return [...packages.values()].toSorted(
    (a, b) => a.name.localeCompare(b.name, "en") || a.version.localeCompare(b.version, "en"),
  );
}

/** Packages under licences that nobody has allowed, a line each. */
export function refusedLicences(packages: readonly LicensedPackage[]): string[] {
  return packages
    .filter(({ licence, production }) => !isAllowed(licence, production ? inProduction : inDevelopment))
    .map(
      ({ name, version, licence, production }) =>
        `${name}@${version}: its licence, ${licence}, is not allowed ${production ? "in production" : "in development"} (scripts/release/licences/list-licences.ts)`,
    );
}

/** docs/licences.md */
export function licencesPage(packages: readonly LicensedPackage[]): string {
  const table = (rows: readonly LicensedPackage[]) =>
    markdownTable(
      ["Package", "Version", "Licence"],
      rows.map(({ name, version, licence }) => [name, version, licence]),
    );
  const production = packages.filter((each) => each.production);
  const development = packages.filter((each) => !each.production);
  return `# Licences of all packages

Written by \`npm run release -- licences\` from package-lock.json, for all platforms; \`npm run check\` holds it true, and refuses a licence that
\`scripts/release/licences/list-licences.ts\` does not allow.

## In production: ${production.length}

${table(production)}

## In development alone: ${development.length}

${table(development)}
`;
}
