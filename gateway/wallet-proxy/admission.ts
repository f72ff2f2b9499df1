import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";

/** Says why a request is not let in; undefined where it is. */
export type Admission = (request: IncomingMessage) => Refusal | undefined;

const ownNames = ["localhost", "127.0.0.1", "[::1]"];
const loopbackOrigin = /^https?:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;
const extensionOrigin = /^(?:chrome|moz|safari-web)-extension:\/\/[^/]+$/;
const originsLoggedMax = 100;

/**
 * Who may use a server that listens on loopback: programs of this machine and its browsers' extensions, pages from
 * loopback, and the `sites` that are named (as `https://dapp.example`). Any other web page that is open in a browser of
 * this machine could reach it too, so:
 *
 * - the Host must be loopback with the server's port. After DNS rebinding (a domain's address is changed to 127.0.0.1) a
 *   page has the same origin as the server and sends no Origin with a GET: only its Host tells;
 * - the Origin, which browsers send with each POST and WebSocket (Fetch standard, section 3.2), must be one of the above;
 * - a page's embedded content (an image, a frame) comes without Origin. Fetch Metadata tells it. Following a link is
 *   permitted.
 */
export function createAdmission({ sites, logger }: { sites: readonly string[]; logger: Logger }): Admission {
  const logged = new Set<string>();

  function logOnce(origin: string): void {
    if (logged.has(origin) || logged.size >= originsLoggedMax) return;
    logged.add(origin);
    logger.warn({ origin }, "a web page was refused: only loopback, extensions and named sites are let in");
  }

  return ({ headers, socket }) => {
    if (!isOwnHost({ host: headers.host, port: socket.localPort })) {
      return refusal("forbidden", "The Host is not this server's: use http://127.0.0.1 or http://localhost");
    }
    const { origin } = headers;
    if (origin === undefined) {
      return isEmbedded(headers)
        ? refusal("forbidden", "Another site may link to this server, but may not embed it")
        : undefined;
    }
    if (loopbackOrigin.test(origin) || extensionOrigin.test(origin) || sites.includes(origin))
      return undefined;
    logOnce(origin);
    return refusal("forbidden", "This web page may not use this server: its Origin is not on the list");
  };
}

function isOwnHost({ host, port }: { host: string | undefined; port: number | undefined }): boolean {
  const name = host?.toLowerCase() ?? "";
  // RFC 9110 section 7.2: the port is left out where it is the scheme's own.
  return ownNames.some((own) => name === `${own}:${port}` || (port === 80 && name === own));
}

/** W3C Fetch Metadata: sent by browsers alone, and no page can change it. */
function isEmbedded(headers: IncomingHttpHeaders): boolean {
  if (headers["sec-fetch-site"] !== "cross-site") return false;
  return headers["sec-fetch-mode"] !== "navigate" || headers["sec-fetch-dest"] !== "document";
}
