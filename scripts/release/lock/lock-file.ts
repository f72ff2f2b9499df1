import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";

const names = z.record(z.string(), z.string());
/** npm writes one name as a text, or a list. */
const platforms = z.union([z.string(), z.array(z.string())]);

/** A package of package-lock.json, https://docs.npmjs.com/cli/configuring-npm/package-lock-json; what is not named here stays. */
export const lockedPackageSchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  cpu: platforms.optional(),
  os: platforms.optional(),
  libc: platforms.optional(),
  dev: z.boolean().optional(),
  optional: z.boolean().optional(),
  peer: z.boolean().optional(),
  license: z.string().optional(),
  bin: names.optional(),
  /** Old packages have a list. */
  engines: z.unknown().optional(),
  dependencies: names.optional(),
  optionalDependencies: names.optional(),
});

const lockSchema = z.looseObject({
  version: z.string(),
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), lockedPackageSchema),
});

export type LockedPackage = z.infer<typeof lockedPackageSchema>;
export type Lock = z.infer<typeof lockSchema>;

/** @throws where the file is no lock file of npm 7 or newer. */
export function readLock(file: string | URL): Lock {
  return lockSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** The name of the package that lies at a place such as `node_modules/a/node_modules/@scope/b`. */
export function nameAt(place: string): string {
  return place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The name that a registry knows it by: an alias has another one in `node_modules`. */
export function registryName(place: string, { name }: LockedPackage): string {
  return name ?? nameAt(place);
}

/** Where Node.js finds a package from another's place, or undefined. */
export function resolvePlace({ packages }: Lock, from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("node_modules/") - 1))) {
    const found = posix.join(place, "node_modules", name);
    if (Object.hasOwn(packages, found)) return found;
    if (place === "") return undefined;
  }
}

/** A package that is for some platforms alone. */
export function isForPlatforms({ os, cpu, libc }: LockedPackage): boolean {
  return os !== undefined || cpu !== undefined || libc !== undefined;
}
