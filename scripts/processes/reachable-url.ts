/** The URL, without a path, of a server on this machine. A server on all addresses is reached on loopback. */
export function reachableUrl({
  host,
  port,
  isTls = false,
}: {
  host: string;
  port: number;
  isTls?: boolean;
}): string {
  return `${isTls ? "https" : "http"}://${reachable(host)}:${port}`;
}

function reachable(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}
