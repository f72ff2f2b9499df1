import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getAddress, Interface, isAddress } from "ethers";
import { z } from "zod";
import type { KnownContract } from "./known-contracts.ts";

const contractFile = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9 _.-]{1,60}$/, "a name of letters, digits, blanks and _.- was expected"),
  address: z
    .string()
    .refine(isAddress, "an address was expected")
    .transform((text) => getAddress(text)),
  deployedAtBlock: z.int().min(0).nullable().default(null),
  abi: z.array(z.looseObject({ type: z.string() })).refine((abi) => {
    try {
      return new Interface(abi).fragments.length > 0;
    } catch {
      return false;
    }
  }, "an ABI with at least one entry was expected"),
});

/**
 * The contracts whose ABI somebody has dropped into a folder, one JSON file each: `name`, `address`, `abi` and where known
 * `deployedAtBlock`. A folder that is not there has none.
 * @throws Error naming the file that cannot be used, and why.
 */
export async function readContracts(folder: string): Promise<KnownContract[]> {
  const names = folder === "" ? [] : await readdir(folder).catch(() => []);
  const contracts: KnownContract[] = [];
  for (const name of names.filter((file) => file.endsWith(".json")).sort()) {
    contracts.push(parse(join(folder, name), await readFile(join(folder, name), "utf8")));
  }
  return contracts;
}

function parse(file: string, text: string): KnownContract {
  try {
    return contractFile.parse(JSON.parse(text));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const why = issue === undefined ? "it is not valid JSON" : `${issue.path.join(".")}: ${issue.message}`;
    throw new Error(`${file} cannot be used: ${why}`, { cause });
  }
}
