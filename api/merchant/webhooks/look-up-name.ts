import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

export type LookUpName = (name: string) => Promise<LookupAddress[]>;

const tryTimeoutMs = 2000;
const tries = 2;

/**
 * All addresses of a name, from DNS alone: the machine's own table of names is not for strangers. It waits in no thread, so that
 * a name server that never answers holds up nobody else. `localhost` is this machine (RFC 6761), without asking.
 */
export function createLookUpName({ servers }: { servers: readonly string[] }): LookUpName {
  const resolver = new Resolver({ timeout: tryTimeoutMs, tries });
  if (servers.length > 0) resolver.setServers(servers);

  return async (name) => {
    const plain = name.toLowerCase().replace(/\.$/, "");
    if (plain === "localhost" || plain.endsWith(".localhost")) return [{ address: "127.0.0.1", family: 4 }];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(plain), resolver.resolve6(plain)]);
    const found = [
      ...(v4.status === "fulfilled" ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === "fulfilled" ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0) throw new NameUnknownError();
    return found;
  };
}

export class NameUnknownError extends Error {
  override readonly name = "NameUnknownError";

  constructor() {
    super("the name has no address");
  }
}
