import { z } from "zod";
import { type Lock, type LockedPackage, registryName, resolvePlace } from "./lock-file.ts";

export type MissingPackage = {
  name: string;
  version: string;
  /** The place of the package that would like to have it. */
  wantedBy: string;
};

/**
 * Optional packages without an entry. npm leaves out those that the registry did not have when the lock file was written;
 * `npm ci` then refuses the file on every platform.
 */
export function findMissing(lock: Lock): MissingPackage[] {
  const missing = new Map<string, MissingPackage>();
  for (const [wantedBy, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (resolvePlace(lock, wantedBy, name) === undefined) missing.set(name, { name, version, wantedBy });
    }
  }
  return [...missing.values()];
}

/** Packages whose content is not pinned, as `name@version`. */
export function findUnhashed({ packages }: Lock): string[] {
  return Object.entries(packages)
    .filter(([place, { integrity }]) => place !== "" && integrity === undefined)
    .map(([place, locked]) => `${registryName(place, locked)}@${locked.version}`)
    .toSorted();
}

/** Words of packages' names, and what npm calls the platform. */
const systems = { android: "android", darwin: "darwin", linux: "linux", win32: "win32", windows: "win32" };
const processors = { amd64: "x64", x64: "x64", arm64: "arm64" };
const libraries = { gnu: "glibc", musl: "musl" };

/**
 * The entry of a package that the registry does not have, after those of its siblings for other platforms: they are one
 * release, and differ in the platform that stands in their names. Without a hash, since nobody has seen its content.
 * @throws where no sibling is known, or the name tells no platform.
 */
export function deriveEntry(lock: Lock, { name, version, wantedBy }: MissingPackage): LockedPackage {
  const names = Object.keys(lock.packages[wantedBy]?.optionalDependencies ?? {});
  const siblings: LockedPackage[] = [];
  for (const other of names) {
    const found = familyOf(other) === familyOf(name) ? resolvePlace(lock, wantedBy, other) : undefined;
    const entry = found === undefined ? undefined : lock.packages[found];
    if (entry !== undefined) siblings.push(entry);
  }
  const sibling = siblings.find((each) => each.version === version);
  const words = wordsOf(name);
  const os = words.flatMap((word) => known(systems, word));
  const cpu = words.flatMap((word) => known(processors, word));
  if (sibling === undefined || os.length !== 1 || cpu.length !== 1) {
    throw new Error(`${name}@${version} is in no registry at hand, and nothing tells what it is for.`);
  }
  const { license, engines, bin, dev } = sibling;
  // Where siblings tell the C library, gnu and none are glibc's.
  const tellsLibrary = os[0] === "linux" && siblings.some(({ libc }) => libc !== undefined);
  const library = words.flatMap((word) => known(libraries, word))[0] ?? "glibc";
  const hasList = Array.isArray(sibling.os);
  return order({
    version,
    cpu: hasList ? cpu : cpu[0],
    os: hasList ? os : os[0],
    libc: tellsLibrary ? [library] : undefined,
    dev,
    license,
    optional: true,
    bin: bin === undefined ? undefined : programsOn(os[0] ?? "", bin),
    engines,
  });
}

/** In npm's order of fields, without those that are undefined. */
export function order(entry: LockedPackage): LockedPackage {
  const first = ["version", "resolved", "integrity"];
  const rank = (field: string, value: unknown) =>
    first.includes(field)
      ? first.indexOf(field)
      : typeof value === "object" && value !== null && !Array.isArray(value)
        ? 4
        : 3;
  const fields = Object.entries(entry).filter(([, value]) => value !== undefined);
  fields.sort(([a, left], [b, right]) => rank(a, left) - rank(b, right) || a.localeCompare(b, "en"));
  return Object.fromEntries(fields);
}

const fileSchema = z.record(z.string(), z.unknown());

/** The lock file's text with more entries, each at its place in npm's order; of the rest not a byte is another. */
export function withEntries(text: string, entries: ReadonlyMap<string, LockedPackage>): string {
  const file = fileSchema.parse(JSON.parse(text));
  const packages = Object.entries({
    ...fileSchema.parse(file["packages"]),
    ...Object.fromEntries(entries),
  });
  packages.sort(([a], [b]) => a.localeCompare(b, "en"));
  return `${JSON.stringify({ ...file, packages: Object.fromEntries(packages) }, null, 2)}\n`;
}

function wordsOf(name: string): string[] {
  return name.split(/[-_./]/);
}

/** The name without what it says of a platform. */
function familyOf(name: string): string {
  const platformWords = [
    ...Object.keys(systems),
    ...Object.keys(processors),
    ...Object.keys(libraries),
    "msvc",
  ];
  return name
    .split(/([-_./])/)
    .filter((word) => !platformWords.includes(word))
    .join("")
    .replace(/[-_.]+$/, "");
}

function known(table: Readonly<Record<string, string>>, word: string): string[] {
  const value = Object.hasOwn(table, word) ? table[word] : undefined;
  return value === undefined ? [] : [value];
}

function programsOn(os: string, bin: Readonly<Record<string, string>>): Record<string, string> {
  const end = os === "win32" ? ".exe" : "";
  return Object.fromEntries(
    Object.entries(bin).map(([name, file]) => [name, `${file.replace(/\.exe$/, "")}${end}`]),
  );
}
