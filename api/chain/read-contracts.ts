import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Fragment } from "ethers/abi";
import { getAddress, isAddress } from "ethers/address";
import { z } from "zod";
import { ConfigError } from "../../lib/config/read-config.ts";
import type { KnownContract } from "./known-contracts.ts";

/** Each is asked of the chain for `/api/v1/network/contracts`. */
const filesMax = 200;
const fileBytesMax = 1_048_576;

/** ethers' Interface leaves out what it cannot read, so each entry is read by itself. */
const abiEntry = z.looseObject({ type: z.string() }).refine((entry) => {
  try {
    Fragment.from(entry);
    return true;
  } catch {
    return false;
  }
}, "an entry of an ABI was expected");

const contractFile = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9 _.-]{1,60}$/, "a name of letters, digits, blanks and _.- was expected"),
  address: z
    .string()
    .refine(isAddress, "an address was expected (with capitals only where EIP-55 has them)")
    .transform((text) => getAddress(text)),
  deployedAtBlock: z.int().min(0).nullable().default(null),
  abi: z.array(abiEntry).min(1, "an ABI with at least one entry was expected"),
});

/**
 * The contracts whose ABI somebody has dropped into a folder, one JSON file each: `name`, `address`, `abi` and where known
 * `deployedAtBlock`. A folder that is not there has none.
 * @throws ConfigError naming each file that cannot be used, and why; also where two have one name or address.
 */
export function readContracts(folder: string): KnownContract[] {
  const files = folder === "" ? [] : namesIn(folder);
  const problems: string[] = [];
  const contracts: KnownContract[] = [];
  const usedBy = new Map<string, string>();
  for (const file of files) {
    const read = readContract(join(folder, file));
    if ("problem" in read) {
      problems.push(`${join(folder, file)}: ${read.problem}`);
      continue;
    }
    const { contract } = read;
    for (const [what, used] of [
      ["name", contract.name],
      ["address", contract.address],
    ] as const) {
      const other = usedBy.get(used);
      if (other !== undefined) problems.push(`${join(folder, file)}: ${what}: ${other} has ${used} too`);
      usedBy.set(used, file);
    }
    contracts.push(contract);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return contracts;
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    if (names.length <= filesMax) return names.sort();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return [];
    throw new ConfigError([`${folder}: cannot be read (${code})`]);
  }
  throw new ConfigError([`${folder}: at most ${filesMax} files were expected`]);
}

function readContract(file: string): { contract: KnownContract } | { problem: string } {
  let parsed: unknown;
  try {
    if (statSync(file).size > fileBytesMax) return { problem: `at most ${fileBytesMax} bytes were expected` };
    parsed = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: "it is not valid JSON" };
    return { problem: `cannot be read (${error instanceof Error ? error.message : error})` };
  }
  const read = contractFile.safeParse(parsed);
  if (read.success) return { contract: read.data };
  const [issue] = read.error.issues;
  return { problem: `${(issue?.path ?? []).join(".") || "the file"}: ${issue?.message}` };
}
