import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createNodeKey } from "../../../genesis/node-key.ts";

/**
 * One text for each validator whose key is not the one of the genesis block. Besu makes a new key where it finds none,
 * and would then run without being a validator.
 */
export async function checkKeys({
  folder,
  validators,
}: {
  folder: string;
  validators: readonly { name: string; address: string }[];
}): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, address } of validators) {
    const file = join(folder, name, "key");
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) problems.push(`${name} has no key: ${file} cannot be read`);
    else if (addressOf(text) !== address) {
      problems.push(`${file} is not the key of ${name}, whose address is ${address}`);
    }
  }
  return problems;
}

function addressOf(text: string): string | undefined {
  try {
    return createNodeKey(text.trim()).address;
  } catch {
    return undefined;
  }
}
