import { Client } from "undici";

export type Target = {
  /** The address without user name and password. */
  url: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** A new connection, opened with its first request. */
  connect(): Client;
};

const connectTimeoutMs = 5_000;
/** The gateway closes idle connections after 10 s without a word, so ours end before that. */
const idleMsMax = 4_000;

/** Where the load goes. `ca`: PEM certificates to trust beside nothing else, for https. */
export function createTarget({ url, key, ca }: { url: URL; key: string; ca: string | undefined }): Target {
  return {
    url: `${url.origin}${url.pathname}${url.search}`,
    path: `${url.pathname}${url.search}`,
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    connect: () =>
      new Client(url.origin, {
        pipelining: 1,
        allowH2: false,
        connectTimeout: connectTimeoutMs,
        keepAliveTimeout: idleMsMax,
        // Deadlines are kept by the transport's sweep, in one place.
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(ca === undefined ? {} : { connect: { ca } }),
      }),
  };
}
