import { LRUCache } from "lru-cache";
import { bloomBitsOf, hasBits } from "../../lib/chain/log-bloom.ts";

/** Values that are looked for in a block's bloom filter; beyond that its logs are asked for. A millisecond, 7 the first time. */
const bloomLooksMax = 1000;

/** Address and topics wanted, by place; null for any value. */
export type Entry<Owner> = { owner: Owner; places: readonly (ReadonlySet<string> | null)[] };

/** Who wants a value, by the value, at each place. */
export type ValuesByPlace<Owner> = readonly Map<string, Entry<Owner> | Set<Entry<Owner>>>[];

/** Makes the function that says whether a block's bloom filter may hold a log that one of the entries wants. */
export function createBloomSearch() {
  const bits = new LRUCache<string, readonly number[]>({ max: 2 * bloomLooksMax });

  function isIn(bloom: Uint8Array, value: string): boolean {
    const known = bits.get(value) ?? bloomBitsOf(value);
    bits.set(value, known);
    return hasBits(bloom, known);
  }

  return function isWanted<Owner>(bloom: Uint8Array, byPlace: ValuesByPlace<Owner>): boolean {
    let looks = 0;
    const mayHold = ({ places }: Entry<Owner>, found: number) =>
      places.every((values, place) => {
        if (values === null || place === found) return true;
        for (const value of values) {
          looks += 1;
          if (looks > bloomLooksMax || isIn(bloom, value)) return true;
        }
        return false;
      });
    for (const [place, values] of byPlace.entries()) {
      for (const [value, wanting] of values) {
        looks += 1;
        if (looks > bloomLooksMax) return true;
        if (!isIn(bloom, value)) continue;
        for (const entry of allOf(wanting)) if (mayHold(entry, place)) return true;
      }
    }
    return false;
  };
}

/** Mostly one: a set for each would take longer than all the rest. */
export function allOf<Owner>(one: Entry<Owner> | Set<Entry<Owner>>): Iterable<Entry<Owner>> {
  return one instanceof Set ? one : [one];
}
