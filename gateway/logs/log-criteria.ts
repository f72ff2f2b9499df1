import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/**
 * Which logs are wanted: those of any of `addresses` (none: of every address) that have, at each place of `topics`, one
 * of its values (`null`: any value). All in lower case.
 */
export type LogCriteria = {
  addresses: readonly string[];
  topics: readonly (readonly string[] | null)[];
};

/** What of a log is matched; both in lower case. */
export type LogPlace = { address: string; topics: readonly string[] };

/** A log has no more (EVM: LOG0 to LOG4). */
const topicsMax = 4;
/** Addresses and topics together that one filter may name; each once, however often it stands there. As geth has it. */
export const logValuesMax = 1000;

/** Reads `address` and `topics` of a filter object (Ethereum JSON-RPC, `eth_newFilter`). */
export function readLogCriteria(filter: Readonly<Record<string, unknown>>): LogCriteria | Refusal {
  const { address = null, topics: places = null } = filter;
  const addresses = address === null ? [] : readValues(address, addressPattern);
  if (addresses === undefined) {
    return refusal(
      "invalid_params",
      "address must be an address or an array of addresses, each 20 bytes in hex",
    );
  }
  if (places !== null && (!Array.isArray(places) || places.length > topicsMax)) {
    return refusal("invalid_params", `topics must be an array of at most ${topicsMax} places`);
  }
  const topics: (readonly string[] | null)[] = [];
  for (const place of places ?? []) {
    const values = place === null ? [] : readValues(place, topicPattern);
    if (values === undefined) {
      return refusal(
        "invalid_params",
        "Each place of topics must be null, 32 bytes in hex, or an array of those",
      );
    }
    topics.push(values.length === 0 ? null : values);
  }
  const criteria = { addresses, topics };
  return countValues(criteria) > logValuesMax ? tooManyValues : criteria;
}

export const tooManyValues = refusal(
  "invalid_params",
  `A filter may name at most ${logValuesMax} addresses and topics together`,
  { data: { logValuesMax } },
);

/** How many addresses and topics these criteria name. */
export function countValues({ addresses, topics }: LogCriteria): number {
  return topics.reduce((sum, place) => sum + (place?.length ?? 0), addresses.length);
}

/** The criteria as members of a filter object. */
export function criteriaMembers({ addresses, topics }: LogCriteria): Record<string, unknown> {
  return {
    ...(addresses.length === 0 ? {} : { address: addresses }),
    ...(topics.length === 0 ? {} : { topics }),
  };
}

const addressPattern = /^0x[0-9a-fA-F]{40}$/;
const topicPattern = /^0x[0-9a-fA-F]{64}$/;

function readValues(value: unknown, pattern: RegExp): string[] | undefined {
  const values = new Set<string>();
  for (const one of Array.isArray(value) ? value : [value]) {
    if (typeof one !== "string" || !pattern.test(one)) return undefined;
    values.add(one.toLowerCase());
  }
  return [...values];
}
