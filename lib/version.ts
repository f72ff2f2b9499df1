import { readFileSync } from "node:fs";
import { Gauge, type Registry } from "prom-client";

/** The product's version: what package.json of the running code says. */
export const productVersion = readVersion();

function readVersion(): string {
  const file = new URL("../package.json", import.meta.url);
  const { version }: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return version;
}

/**
 * What an operator has to know of a process that goes on while a new version of its program has taken the old one's place on
 * disk; undefined where both are the same, or where the file cannot be read just now.
 */
export function differsOnDisk(readOnDisk: () => string = readVersion): string | undefined {
  try {
    const onDisk = readOnDisk();
    if (onDisk === productVersion) return undefined;
    return `the primary, which starts the others, goes on as ${productVersion}, and ${onDisk} is on disk: it needs a stop and a start`;
  } catch {
    return undefined;
  }
}

/**
 * Orders versions of numbers and dots, such as 26.8.0, with an optional prerelease behind a hyphen, which comes before
 * the version itself (https://semver.org, 11). Missing numbers count as 0.
 * @returns less than 0 where `one` is older, 0 where both are as old, more than 0 where it is newer.
 */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [parseVersion(one), parseVersion(other)];
  const length = Math.max(left.numbers.length, right.numbers.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.prerelease === right.prerelease) return 0;
  if (left.prerelease === "") return 1;
  if (right.prerelease === "") return -1;
  return left.prerelease.localeCompare(right.prerelease, "en", { numeric: true });
}

/** Registers which version runs: 1, with the version as a label. Workers of one process say it once. */
export function registerBuildInfo(registry: Registry, version = productVersion): void {
  const gauge = new Gauge({
    name: "tollgate_build_info",
    help: "1, by the version that runs",
    labelNames: ["version"],
    aggregator: "first",
    registers: [registry],
  });
  gauge.set({ version }, 1);
}

function parseVersion(text: string): { numbers: number[]; prerelease: string } {
  const [version = ""] = text.replace(/^v/, "").split("+");
  const [numbers = "", ...prerelease] = version.split("-");
  return { numbers: numbers.split(".").map(Number), prerelease: prerelease.join("-") };
}
