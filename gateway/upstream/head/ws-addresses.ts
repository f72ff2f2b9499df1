/**
 * The addresses where a validator's WebSocket may be. `auto`: first the same port (anvil serves both on one), then the next
 * one (Besu's 8545 and 8546) unless it is another validator's.
 */
export function wsAddresses({
  url,
  wsUrl,
  urls,
}: {
  url: string;
  /** An address, `auto` or `none`. */
  wsUrl: string;
  /** All validators' HTTP addresses. */
  urls: readonly string[];
}): string[] {
  if (wsUrl === "none") return [];
  if (wsUrl !== "auto") return [wsUrl];
  const same = new URL(url);
  same.protocol = same.protocol === "https:" ? "wss:" : "ws:";
  const port = Number(same.port === "" ? defaultPorts[same.protocol] : same.port);
  if (!Number.isInteger(port) || port >= 65_535) return [same.href];
  const next = new URL(same);
  next.port = String(port + 1);
  const isTaken = urls.some((other) => new URL(other).host === next.host);
  return isTaken ? [same.href] : [same.href, next.href];
}

const defaultPorts: Readonly<Record<string, string>> = { "ws:": "80", "wss:": "443" };
