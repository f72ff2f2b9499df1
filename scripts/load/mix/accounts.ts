import { hash } from "node:crypto";
import type { Mix } from "./mix-schema.ts";

/** The addresses of `$account`: those of the list, or as many as `count` that follow from the seed and hold nothing. */
export function createAccounts({ count, seed, list }: Mix["accounts"]): readonly string[] {
  if (list !== undefined) return list;
  return Array.from({ length: count }, (_, index) => `0x${hash("sha256", `${seed}:${index}`).slice(0, 40)}`);
}
