import type { IncomingHttpHeaders } from "node:http";

const userAgentCharsMax = 200;

/** What a browser or program calls itself, for its owner's list of sessions: anybody can write anything there. */
export function userAgentOf(headers: IncomingHttpHeaders): string {
  const text = headers["user-agent"] ?? "";
  // Node reads headers as Latin-1: beyond printable ASCII there is nothing that a browser means.
  return text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim()
    .slice(0, userAgentCharsMax)
    .trimEnd();
}
