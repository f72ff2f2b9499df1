import { BlockList, isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

/** More hops than any real chain of proxies: what stands before them is not looked at. */
const hopsMax = 32;

/** What an address is called that cannot be read (a socket that is gone): all such share one limit. */
export const unknownAddress = "unknown";

export type ClientAddress = {
  /**
   * The client's address, as `normalizeAddress` writes it. `peer` is the other end of the socket; `forwardedFor` the
   * value of `X-Forwarded-For`, several fields joined with commas.
   */
  of(request: { peer: string; forwardedFor: string | undefined }): string;
  /** Whether the other end of a socket is a trusted proxy, which stands for many clients. */
  isTrustedProxy(peer: string): boolean;
};

/**
 * Finds the client of a request. Anybody can write `X-Forwarded-For`, so only the part that trusted proxies wrote counts: read from the right, the first address that is not a trusted proxy is the client. What
 * stands left of it was written by the client.
 *
 * `trustedProxies`: addresses or CIDR ranges (`10.0.0.0/8`, `2001:db8::/32`). Throws on one that is neither. Another list in
 * its place counts from then on.
 */
export function createClientAddress(settings: { readonly trustedProxies: readonly string[] }): ClientAddress {
  let parsed = settings.trustedProxies;
  let ranges = parseRanges(parsed);

  function trustedNow(): BlockList {
    if (parsed !== settings.trustedProxies) {
      parsed = settings.trustedProxies;
      ranges = parseRanges(parsed);
    }
    return ranges;
  }

  return {
    of({ peer, forwardedFor }) {
      let address = normalizeAddress(peer);
      if (address === undefined) return unknownAddress;
      if (forwardedFor === undefined) return address;
      const trusted = trustedNow();
      if (!isTrusted(address, trusted)) return address;
      for (const hop of forwardedFor.split(",").slice(-hopsMax).reverse()) {
        const forwarded = normalizeAddress(withoutPort(hop.trim()));
        // A proxy that hides or garbles its client stands for it.
        if (forwarded === undefined) return address;
        address = forwarded;
        if (!isTrusted(address, trusted)) return address;
      }
      return address;
    },
    isTrustedProxy(peer) {
      const address = normalizeAddress(peer);
      return address !== undefined && isTrusted(address, trustedNow());
    },
  };
}

/**
 * What limits count by: an IPv4 address itself, an IPv6 address by its /64, since one subscriber has at least that
 * much (RFC 6177). Takes what `ClientAddress.of` returned.
 */
export function limitAddress(address: string): string {
  const groups = parseIPv6(address);
  return groups === undefined ? address : `${formatGroups(groups.slice(0, 4))}::/64`;
}

/**
 * One spelling for each address: IPv4 dotted, IPv6 as eight groups, IPv4-mapped IPv6 (`::ffff:192.0.2.1`, RFC 4291
 * 2.5.5.2) as the IPv4 address that it is. Undefined where the text is not an address.
 */
export function normalizeAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const groups = parseIPv6(text);
  if (groups === undefined) return undefined;
  const [, , , , , mark, high = 0, low = 0] = groups;
  const mapped = mark === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (mapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return formatGroups(groups);
}

/** A trusted proxy in a configuration. */
export const addressRange = z.string().refine(isRange, {
  error: "an address or a CIDR range such as 10.0.0.0/8 was expected",
});

function isRange(text: string): boolean {
  try {
    parseRanges([text]);
    return true;
  } catch {
    return false;
  }
}

function parseRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [, network = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(range.trim()) ?? [];
    const address = normalizeAddress(network);
    const family = address !== undefined && isIPv4(address) ? "ipv4" : "ipv6";
    const bitsMax = family === "ipv4" ? 32 : 128;
    const prefix = bits === undefined ? bitsMax : Number(bits);
    // A mapped range (`::ffff:10.0.0.0/104`) would need its length counted anew: the IPv4 spelling says it plainly.
    const mapped = family === "ipv4" && network.includes(":");
    if (address === undefined || mapped || prefix > bitsMax) {
      throw new Error(
        `"${range}" is neither an address nor a CIDR range such as 10.0.0.0/8 or 2001:db8::/32`,
      );
    }
    list.addSubnet(address, prefix, family);
  }
  return list;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** `192.0.2.1:443` and `[2001:db8::1]:443`, as some proxies write their hops, without the port. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}

function parseIPv6(text: string): number[] | undefined {
  if (!isIPv6(text)) return undefined;
  // A zone (`fe80::1%eth0`) names an interface of this host, not a part of the address.
  const [address = ""] = text.split("%");
  const [head = "", tail] = address.split("::");
  const left = parseGroups(head);
  if (tail === undefined) return left;
  const right = parseGroups(tail);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function formatGroups(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}
