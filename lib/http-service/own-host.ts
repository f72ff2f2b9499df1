import type { IncomingMessage } from "node:http";
import { normalizeAddress } from "./client-address.ts";

/** Whether the `Host` of a request means the server that it came to. */
export type IsOwnHost = (request: Pick<IncomingMessage, "headers" | "socket">) => boolean;

/**
 * For servers on a loopback or private network that ask nobody for a key. A browser on that network reaches them too. By
 * DNS rebinding a page's domain can get the server's address: the page then has the server's origin, and reads its
 * answers. Only the Host shows it. So the Host has to be loopback, the address that the connection came to, or one of
 * `hosts`. The port does not count, because it may be a forwarded one.
 */
export function createIsOwnHost({ hosts }: { hosts: readonly string[] }): IsOwnHost {
  const names = new Set(hosts.map((name) => name.toLowerCase()));
  return ({ headers, socket }) => {
    const [, name = ""] = hostPattern.exec(headers.host?.toLowerCase() ?? "") ?? [];
    if (name === "localhost" || names.has(name)) return true;
    const address = normalizeAddress(name.replace(/^\[|\]$/g, ""));
    if (address === undefined) return false;
    return loopback.test(address) || address === normalizeAddress(socket.localAddress ?? "");
  };
}

const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/;
/** Loopback addresses, as `normalizeAddress` spells them. */
export const loopback = /^(?:127\.\d+\.\d+\.\d+|(?:0+:){7}0*1)$/;

export const notOwnHost =
  "The Host is not this server's: use http://127.0.0.1 or http://localhost, or add the name to its configuration";
