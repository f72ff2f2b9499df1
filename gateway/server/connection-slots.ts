import { limitAddress, normalizeAddress, unknownAddress } from "../../lib/http-service/client-address.ts";
import type { ConnectionSettings } from "../config.ts";

/** A connection's place among all: `prove` says that a good API key came over it, `leave` that it is over. */
export type Slot = { prove(): void; leave(): void };

/** Whose bound closed a connection. */
export const slotLosses = ["address", "process"] as const;
export type SlotLoss = (typeof slotLosses)[number];

export type ConnectionSlots = {
  /** A place for a connection from `peer`; undefined if it has to close at once. `close` may be called later. */
  take(peer: string, close: () => void): Slot | undefined;
  count(): number;
  /** How many connections were closed or not taken, by why. */
  lost(): ReadonlyMap<SlotLoss, number>;
};

type Taken = { close: () => void; ofAddress: OfAddress };
type OfAddress = { count: number; strangers: Set<Taken> };

/**
 * Bounds connections: in all, and for each address (IPv6 by /64; a trusted proxy stands for many clients and is counted
 * in all only). A new one takes the place of the oldest without a good key, so that a client that only holds connections
 * open loses them to one with a key. If all have had a good key, the new one is refused.
 */
export function createConnectionSlots({
  settings,
  isTrustedProxy,
}: {
  /** Read anew for each connection. */
  settings: Readonly<ConnectionSettings>;
  isTrustedProxy: (peer: string) => boolean;
}): ConnectionSlots {
  const addresses = new Map<string, OfAddress>();
  const strangers = new Set<Taken>();
  const lost = new Map<SlotLoss, number>();
  let count = 0;

  /** Makes room by closing the oldest stranger, where there is one. */
  function hasMadeRoom(among: ReadonlySet<Taken>, why: SlotLoss): boolean {
    lost.set(why, (lost.get(why) ?? 0) + 1);
    const [oldest] = among;
    oldest?.close();
    return oldest !== undefined;
  }

  return {
    take(peer, close) {
      const { max, perAddressMax } = settings;
      const counted = limitAddress(normalizeAddress(peer) ?? unknownAddress);
      const known = addresses.get(counted);
      if (known !== undefined && known.count >= perAddressMax && !isTrustedProxy(peer)) {
        if (!hasMadeRoom(known.strangers, "address")) return undefined;
      }
      if (count >= max && !hasMadeRoom(strangers, "process")) return undefined;
      // Looked up again: the record of an address goes with its last connection.
      const ofAddress = addresses.get(counted) ?? { count: 0, strangers: new Set() };
      addresses.set(counted, ofAddress);
      const taken: Taken = { close, ofAddress };
      count += 1;
      ofAddress.count += 1;
      const prove = () => {
        strangers.delete(taken);
        ofAddress.strangers.delete(taken);
      };
      let isOver = false;
      strangers.add(taken);
      ofAddress.strangers.add(taken);
      return {
        prove,
        leave() {
          if (isOver) return;
          isOver = true;
          prove();
          count -= 1;
          ofAddress.count -= 1;
          if (ofAddress.count === 0) addresses.delete(counted);
        },
      };
    },
    count: () => count,
    lost: () => lost,
  };
}
