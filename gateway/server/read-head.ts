import type { RequestHead } from "./exchange.ts";
import { isExplorerPath, readPageHeaders } from "./page-headers.ts";
import type { HttpRequest } from "./uws.ts";

/** Headers are read in a loop because that alone shows one that came twice; `getHeader` gives the first. */
export function readHead(req: HttpRequest): RequestHead {
  const head: RequestHead = {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    query: req.getQuery() ?? "",
    apiKey: undefined,
    apiKeyCount: 0,
    hostCount: 0,
    contentLength: undefined,
    contentLengthCount: 0,
    transferEncodings: undefined,
    contentType: undefined,
    contentTypeCount: 0,
    contentEncoding: undefined,
    forwardedFor: undefined,
    cacheControl: undefined,
    idempotencyKey: undefined,
    origin: undefined,
    requestedMethod: undefined,
    page: undefined,
  };
  req.forEach((name, value) => {
    switch (name) {
      case "x-api-key":
        head.apiKey = value;
        head.apiKeyCount += 1;
        break;
      case "host":
        head.hostCount += 1;
        break;
      case "content-length":
        head.contentLength = value;
        head.contentLengthCount += 1;
        break;
      case "transfer-encoding":
        head.transferEncodings =
          head.transferEncodings === undefined ? value : `${head.transferEncodings}, ${value}`;
        break;
      case "content-type":
        head.contentType = value;
        head.contentTypeCount += 1;
        break;
      case "content-encoding":
        head.contentEncoding =
          head.contentEncoding === undefined ? value : `${head.contentEncoding}, ${value}`;
        break;
      case "origin":
        head.origin = head.origin === undefined ? value : `${head.origin}, ${value}`;
        break;
      case "access-control-request-method":
        head.requestedMethod = value;
        break;
      case "cache-control":
        head.cacheControl = head.cacheControl === undefined ? value : `${head.cacheControl}, ${value}`;
        break;
      case "idempotency-key":
        // The faucet would have to choose between two. Joined, they are invalid, so it refuses them.
        head.idempotencyKey = head.idempotencyKey === undefined ? value : `${head.idempotencyKey}, ${value}`;
        break;
      case "x-forwarded-for":
        head.forwardedFor = head.forwardedFor === undefined ? value : `${head.forwardedFor}, ${value}`;
        break;
    }
  });
  if (head.path.length > 1 && isExplorerPath(head.path)) head.page = readPageHeaders(req);
  return head;
}

/** Whether the body has another coding besides chunks. The library would read it as plain chunks. */
export function isUnreadable({ transferEncodings }: RequestHead): boolean {
  return transferEncodings !== undefined && transferEncodings.toLowerCase() !== "chunked";
}
