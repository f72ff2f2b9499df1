import { BlockList, isIP } from "node:net";

/**
 * What is not reachable from everywhere, by the registries of special-purpose addresses (RFC 6890 and what came after it);
 * multicast, and all that is reserved.
 */
const notPublicIpv4: readonly [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** All that is handed out of IPv6. Mapped and translated IPv4, local and multicast addresses lie outside it. */
const handedOutIpv6: readonly [string, number] = ["2000::", 3];

/** Within it: documentation, AS112, and 6to4 and Teredo, which lead on to an IPv4 address. */
const notPublicIpv6: readonly [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

const refused = new BlockList();
for (const [net, bits] of notPublicIpv4) refused.addSubnet(net, bits, "ipv4");
for (const [net, bits] of notPublicIpv6) refused.addSubnet(net, bits, "ipv6");
const handedOut = new BlockList();
handedOut.addSubnet(...handedOutIpv6, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export type AddressRule = (address: string) => boolean;

/** Whether everybody reaches this address. What is no address, or has a zone, is none. */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  const version = isIP(address);
  if (version === 4) return !refused.check(address, "ipv4");
  return version === 6 && handedOut.check(address, "ipv6") && !refused.check(address, "ipv6");
}

/** For development: this machine too. */
export function isPublicOrLoopback(address: string): boolean {
  return isPublicAddress(address) || isLoopback(address);
}

function isLoopback(address: string): boolean {
  const version = address.includes("%") ? 0 : isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}
