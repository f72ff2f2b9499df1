import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../../lib/cli/command.ts";
import type { ReleaseCommand } from "./command.ts";
import { askRegistry } from "./lock/ask-registry.ts";
import {
  deriveEntry,
  findMissing,
  findUnhashed,
  type MissingPackage,
  order,
  withEntries,
} from "./lock/complete-lock.ts";
import { isForPlatforms, type Lock, type LockedPackage, readLock, registryName } from "./lock/lock-file.ts";

/** Requests to the registry at once. */
const requestsMax = 4;

export const lockCommand: ReleaseCommand = {
  name: "lock",
  positionals: [],
  summary: "Completes package-lock.json for all platforms, so that npm ci takes it anywhere.",
  details: [
    "npm leaves out optional packages that the registry does not have at the moment. They get entries here: from the registry,",
    "or, where it has none, after their siblings for other platforms and without a hash. A later run fills in hashes that the",
    "registry has by then. Nothing is changed where a hash differs from the registry's. After each npm install of a new version.",
  ],
  options: {
    verify: { text: "also compare the hashes of all packages for single platforms with the registry" },
    "dry-run": { text: "say what would be written" },
  },
  examples: ["lock", "lock --verify --dry-run"],
  async run({ root, values, env, print, note }) {
    const file = join(root, "package-lock.json");
    const lock = readLock(file);
    const ask = (name: string, version = "") =>
      askRegistry(name, version, { cwd: root, ...(env["NPM"] === undefined ? {} : { npm: env["NPM"] }) });
    const entries = new Map<string, LockedPackage>();
    const grown = (): Lock => ({ ...lock, packages: { ...lock.packages, ...Object.fromEntries(entries) } });
    const unknown: MissingPackage[] = [];
    for (const missing of findMissing(lock)) {
      const told = await ask(missing.name, missing.version);
      if (told === undefined) {
        unknown.push(missing);
        continue;
      }
      const dev = lock.packages[missing.wantedBy]?.dev;
      entries.set(`node_modules/${missing.name}`, order({ ...told, dev, optional: true }));
      print(`${missing.name}@${missing.version}: an entry`);
    }
    for (const missing of unknown) {
      entries.set(`node_modules/${missing.name}`, deriveEntry(grown(), missing));
      print(`${missing.name}@${missing.version}: an entry without a hash`);
    }
    const differences = await fillHashes({ lock, entries, verify: values["verify"] === true, ask, print });
    if (differences.length > 0) {
      throw new CommandError(
        `These are other packages than those of the registry; nothing was written:\n  ${differences.join("\n  ")}`,
        { exitCode: 1 },
      );
    }
    const before = readFileSync(file, "utf8");
    const text = withEntries(before, entries);
    const unhashed = findUnhashed(grown());
    if (text === before) print("package-lock.json is complete.");
    if (values["dry-run"] !== true) {
      writeFileSync(file, text);
      writeFileSync(
        join(root, "scripts/release/lock/without-hash.txt"),
        unhashed.map((name) => `${name}\n`).join(""),
      );
    }
    if (unhashed.length > 0) {
      note(
        `${unhashed.length} packages have no hash, because this registry does not have them:\n  ${unhashed.join("\n  ")}`,
      );
    }
  },
};

/** Adds hashes that were missing to `entries`, and tells which ones differ from the registry's. */
async function fillHashes({
  lock,
  entries,
  verify,
  ask,
  print,
}: {
  lock: Lock;
  entries: Map<string, LockedPackage>;
  verify: boolean;
  ask: (name: string, version: string | undefined) => Promise<LockedPackage | undefined>;
  print: (text: string) => void;
}): Promise<string[]> {
  const differences: string[] = [];
  const places = Object.entries(lock.packages).filter(
    ([place, locked]) =>
      place !== "" && (locked.integrity === undefined || (verify && isForPlatforms(locked))),
  );
  const look = async ([place, locked]: [string, LockedPackage]) => {
    const name = registryName(place, locked);
    const told = await ask(name, locked.version);
    if (told?.integrity === undefined) return;
    if (locked.integrity === undefined) {
      entries.set(place, order({ ...locked, integrity: told.integrity }));
      print(`${name}@${locked.version}: its hash`);
    } else if (locked.integrity !== told.integrity) {
      differences.push(`${name}@${locked.version}: ${locked.integrity}, the registry has ${told.integrity}`);
    }
  };
  for (let from = 0; from < places.length; from += requestsMax)
    await Promise.all(places.slice(from, from + requestsMax).map(look));
  return differences;
}
