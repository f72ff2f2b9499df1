import { isEmptyBloom } from "../../lib/chain/log-bloom.ts";
import { allOf, createBloomSearch, type Entry, type ValuesByPlace } from "./bloom-search.ts";
import type { LogCriteria, LogPlace } from "./log-criteria.ts";

export type LogIndex<Owner> = ReturnType<typeof createLogIndex<Owner>>;

/**
 * Finds who wants a log by what is in the log, not one owner after the other: each owner is listed under the values of one place,
 * the one for which they name the fewest, so that a log leads to those who name its address or a topic at that place.
 */
export function createLogIndex<Owner>() {
  const entries = new Map<Owner, Entry<Owner>>();
  // Mostly one: a set for each of a thousand topics would take longer than all the rest.
  const byPlace: ValuesByPlace<Owner> = Array.from({ length: 5 }, () => new Map());
  /** They name nothing. */
  const anywhere = new Set<Entry<Owner>>();
  const isWanted = createBloomSearch();

  /** The place at which an entry stands. */
  function standsAt({ places }: Entry<Owner>): number | undefined {
    let best: { place: number; size: number } | undefined;
    for (const [place, values] of places.entries()) {
      if (values !== null && (best === undefined || values.size < best.size))
        best = { place, size: values.size };
    }
    return best?.place;
  }

  return {
    add(owner: Owner, { addresses, topics }: LogCriteria): void {
      const places = [addresses.length === 0 ? null : addresses, ...topics].map((values) =>
        values === null ? null : new Set(values),
      );
      const entry = { owner, places };
      entries.set(owner, entry);
      const place = standsAt(entry);
      if (place === undefined) anywhere.add(entry);
      for (const value of place === undefined ? [] : (places[place] ?? [])) {
        const others = byPlace[place ?? 0]?.get(value);
        if (others instanceof Set) others.add(entry);
        else byPlace[place ?? 0]?.set(value, others === undefined ? entry : new Set([others, entry]));
      }
    },

    remove(owner: Owner): void {
      const entry = entries.get(owner);
      if (entry === undefined) return;
      entries.delete(owner);
      anywhere.delete(entry);
      const place = standsAt(entry) ?? 0;
      const values = byPlace[place];
      for (const value of entry.places[place] ?? []) {
        const others = values?.get(value);
        if (others instanceof Set) others.delete(entry);
        if (others === entry || (others instanceof Set && others.size === 0)) values?.delete(value);
      }
    },

    /** Whether a block may have a log that somebody wants. `false` is certain. */
    mayMatch(bloom: Uint8Array | undefined): boolean {
      if (entries.size === 0) return false;
      if (bloom === undefined) return true;
      if (isEmptyBloom(bloom)) return false;
      if (anywhere.size > 0) return true;
      return isWanted(bloom, byPlace);
    },

    /**
     * Calls `tell` for each owner that wants this log, and returns how many were looked at. A log with fewer topics than there are
     * places does not match, whatever they say: as validators do it.
     */
    find({ address, topics }: LogPlace, tell: (owner: Owner) => void): number {
      let looked = 0;
      const look = ({ owner, places }: Entry<Owner>) => {
        looked += 1;
        if (topics.length + 1 < places.length) return;
        const isWanted = places.every(
          (values, place) => values?.has(place === 0 ? address : (topics[place - 1] ?? "")) ?? true,
        );
        if (isWanted) tell(owner);
      };
      for (const entry of anywhere) look(entry);
      for (const [place, values] of byPlace.entries()) {
        const value = place === 0 ? address : topics[place - 1];
        const wanting = value === undefined ? undefined : values.get(value);
        if (wanting !== undefined) for (const entry of allOf(wanting)) look(entry);
      }
      return looked;
    },
  };
}
