import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { z } from "zod";
import { order } from "./complete-lock.ts";
import { type LockedPackage, lockedPackageSchema } from "./lock-file.ts";

const manifestSchema = lockedPackageSchema
  .pick({ version: true, cpu: true, os: true, libc: true, bin: true, engines: true, license: true })
  .extend({ dist: z.object({ integrity: z.string() }) });

/**
 * A package's entry as a registry tells it; undefined where it has none of that version. Through npm, so that whatever a
 * person has configured (registries of scopes, proxies, tokens) is used.
 * @throws where the registry does not answer.
 */
export async function askRegistry(
  name: string,
  version: string,
  { npm = "npm", cwd }: { npm?: string; cwd: string },
): Promise<LockedPackage | undefined> {
  let text: string;
  try {
    text = (await promisify(execFile)(npm, ["view", `${name}@${version}`, "--json"], { cwd })).stdout;
  } catch (error) {
    const said = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    if (/"code": "(?:E404|ETARGET)"/.test(said)) return undefined;
    throw new Error(`The registry does not answer for ${name}@${version}.`, { cause: error });
  }
  if (text.trim() === "") return undefined;
  const { dist, ...manifest } = manifestSchema.parse(JSON.parse(text));
  return order({ ...manifest, integrity: dist.integrity });
}
