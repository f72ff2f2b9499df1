import type { EventPage, ToldEvent } from "./read-events.ts";

const reconnectMs = 2000;

export const heartbeatText = ": still here\n\n";

/**
 * From where a stream goes on (WHATWG HTML 9.2). Its id is there before the first event is, so that who loses the connection before
 * that misses nothing.
 */
export function beginText({ after, latest, removedUpTo }: EventPage): string {
  const data = JSON.stringify({ after, latest, removedUpTo });
  return `retry: ${reconnectMs}\n\nevent: begin\nid: ${removedUpTo ?? after}\ndata: ${data}\n\n`;
}

/** A body is JSON on one line: what a reader finds in `data` is what a webhook is sent, byte for byte. */
export function eventText({ sequence, type, body }: ToldEvent): string {
  return `event: ${type}\nid: ${sequence}\ndata: ${body}\n\n`;
}
