import { readFileSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";

/** As redis-py calls them: the authority, the client's certificate and its key, each a PEM file. */
const fileNames = { ca: "ssl_ca_certs", cert: "ssl_certfile", key: "ssl_keyfile" } as const;
type Part = keyof typeof fileNames;
const parts: readonly Part[] = ["ca", "cert", "key"];

export type RedisTls = Pick<SecureContextOptions, Part>;

/**
 * Takes apart an address like `rediss://gateway:password@redis:6380?ssl_ca_certs=/etc/tollgate/redis-ca.pem`, with `ssl_certfile` and
 * `ssl_keyfile` where Redis asks for a client's certificate. Without an authority those of the system count. The files
 * are read for each connection, so that a renewed certificate needs no restart; while one cannot be read, what it held before counts.
 *
 * @returns the address without TLS and these names, and what TLS takes; `tls` is undefined for `redis://`. For a file that cannot be
 *   read, names without `rediss://`, a certificate without a key: what was expected, without the address, which may hold a password.
 */
export function readRedisTls(
  text: string,
): { url: string; tls: RedisTls | undefined } | { expected: string } {
  const url = new URL(text);
  const files = new Map<Part, string>();
  for (const part of parts) {
    const file = url.searchParams.get(fileNames[part]);
    if (file !== null) files.set(part, file);
    url.searchParams.delete(fileNames[part]);
  }
  if (!url.protocol.startsWith("rediss")) {
    const [first] = files.keys();
    if (first !== undefined)
      return { expected: `${fileNames[first]} is for an address that begins with rediss` };
    return { url: text, tls: undefined };
  }
  if (files.has("cert") !== files.has("key")) {
    return { expected: `${fileNames.cert} and ${fileNames.key} belong together: name both, or none` };
  }
  const read = new Map<Part, Buffer>();
  for (const [part, file] of files) {
    try {
      read.set(part, readFileSync(file));
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable";
      return { expected: `${fileNames[part]}: ${file} cannot be read (${code})` };
    }
  }
  const latest = (part: Part): Buffer | undefined => {
    const file = files.get(part);
    if (file === undefined) return undefined;
    try {
      read.set(part, readFileSync(file));
    } catch {
      // What it held before counts.
    }
    return read.get(part);
  };
  // ioredis copies these for each connection.
  const tls: RedisTls = {};
  for (const part of files.keys())
    Object.defineProperty(tls, part, { enumerable: true, get: () => latest(part) });
  url.protocol = url.protocol.replace("rediss", "redis");
  return { url: url.href, tls };
}
