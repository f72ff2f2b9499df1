import { isMap, isSeq, parseDocument, type YAMLSeq } from "yaml";
import { readAddress } from "./claim-address.ts";

/** Puts an entry at the end of an allowlist's text, whose comments and order stay. `undefined`: the address is there. */
export function addEntry(
  text: string,
  entry: { address: string; label: string; amount?: string },
): string | undefined {
  const document = parseDocument(text);
  const list = listOf(document);
  if (indexOf(list, entry.address) !== -1) return undefined;
  list.add(document.createNode(entry));
  return String(document);
}

/** Takes an address out of an allowlist's text. `undefined`: it is not there. */
export function removeEntry(text: string, address: string): string | undefined {
  const document = parseDocument(text);
  const list = listOf(document);
  const index = indexOf(list, address);
  if (index === -1) return undefined;
  list.delete(index);
  return String(document);
}

/** The text was read as an allowlist before, so that it has the list. */
function listOf(document: ReturnType<typeof parseDocument>): YAMLSeq {
  const list = document.get("addresses");
  if (!isSeq(list)) throw new Error("the allowlist has no list of addresses");
  return list;
}

function indexOf(list: YAMLSeq, address: string): number {
  return list.items.findIndex((item) => {
    const read = readAddress(isMap(item) ? item.get("address") : undefined);
    return "address" in read && read.address === address;
  });
}
