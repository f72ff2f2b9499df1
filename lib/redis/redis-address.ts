import { z } from "zod";
import { type RedisTls, readRedisTls } from "./redis-tls.ts";

/** A node of a cluster to begin with; the nodes tell of all others. */
export type ClusterNode = { host: string; port: number };

export type RedisAddress =
  | { kind: "single" /** Without TLS, which stands in `tls`. */; url: string; tls: RedisTls | undefined }
  | {
      kind: "cluster";
      nodes: ClusterNode[];
      username: string | undefined;
      password: string | undefined;
      tls: RedisTls | undefined;
    };

export const redisProtocols = ["redis:", "rediss:", "redis-cluster:", "rediss-cluster:"] as const;
const defaultPort = 6379;

/**
 * Reads where Redis is: `redis://host:port` for a single one, and for a cluster some of its nodes as
 * `redis-cluster://user:password@host:port?node=host:port&node=host:port`; `rediss` and `rediss-cluster` with TLS (`readRedisTls`). One node is
 * enough, the others are asked while it is away. A text that is none of these answers what was expected.
 */
export function readRedisAddress(text: string): RedisAddress | { expected: string } {
  const expected = `an address that begins with ${redisProtocols.map((name) => `${name}//`).join(" or ")} was expected`;
  if (!URL.canParse(text)) return { expected };
  if (!redisProtocols.some((protocol) => protocol === new URL(text).protocol)) return { expected };
  const read = readRedisTls(text);
  if ("expected" in read) return read;
  const { tls } = read;
  const url = new URL(read.url);
  if (url.protocol === "redis:") return { kind: "single", url: read.url, tls };
  if (url.hostname === "")
    return { expected: "a cluster's node was expected: redis-cluster://host:port?node=host:port" };
  // A cluster has no numbered databases, so a path would be ignored.
  if (url.pathname !== "" && url.pathname !== "/")
    return { expected: "no database was expected: a cluster has none" };
  const nodes: ClusterNode[] = [{ host: bare(url.hostname), port: Number(url.port || defaultPort) }];
  for (const [name, value] of url.searchParams) {
    const node = name === "node" ? readNode(value) : undefined;
    if (node === undefined)
      return { expected: "nodes were expected behind the question mark: ?node=host:port&node=host:port" };
    nodes.push(node);
  }
  const { username, password } = url;
  return {
    kind: "cluster",
    nodes,
    username: username === "" ? undefined : decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
    tls,
  };
}

/** The address of Redis in a configuration. */
export const redisUrl = z.string().superRefine((text, context) => {
  const read = readRedisAddress(text);
  if ("expected" in read) context.addIssue({ code: "custom", message: read.expected });
});

/** An address without what is secret in it, for messages. */
export function tellableAddress(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

function readNode(text: string): ClusterNode | undefined {
  if (text === "" || !URL.canParse(`tcp://${text}`)) return undefined;
  const { hostname, port, username, pathname } = new URL(`tcp://${text}`);
  if (hostname === "" || username !== "" || pathname !== "") return undefined;
  return { host: bare(hostname), port: Number(port || defaultPort) };
}

/** An IPv6 address without its brackets. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
