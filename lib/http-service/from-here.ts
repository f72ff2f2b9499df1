import { normalizeAddress } from "./client-address.ts";
import { loopback } from "./own-host.ts";

/**
 * Whether the other end of a connection is on this machine: its address is loopback, or the one that it connected to. In a
 * container it is the container alone.
 */
export function isFromHere({
  remoteAddress,
  localAddress,
}: {
  /** As `node:net` tells them of a socket: undefined of one that is gone. */
  remoteAddress?: string | undefined;
  localAddress?: string | undefined;
}): boolean {
  const from = normalizeAddress(remoteAddress ?? "");
  return from !== undefined && (loopback.test(from) || from === normalizeAddress(localAddress ?? ""));
}
