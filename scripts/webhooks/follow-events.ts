import { setTimeout as sleep } from "node:timers/promises";
import { CommandError } from "../../lib/cli/command.ts";
import { connectEvents, type Message } from "./event-connection.ts";

export type FollowedEvent = Extract<Message, { kind: "event" }>;

const reconnectMs = 1000;
const reconnectMaxMs = 30_000;

/**
 * A wallet's events, each once and in order, over as many connections as it takes: the next one goes on after the last event that was
 * taken. Ends when `stopping` says so.
 *
 * @throws CommandError where the API refuses, or does not answer the first time.
 */
export async function* followEvents({
  api,
  key,
  first,
  note,
  stopping,
  waitMs = reconnectMs,
}: {
  api: string;
  key: string;
  /** The event to begin with; undefined: the next one that happens. */
  first: number | undefined;
  note: (text: string) => void;
  stopping: AbortSignal;
  /** Before the second connection; it doubles while there is none. */
  waitMs?: number;
}): AsyncGenerator<FollowedEvent> {
  let after: number | "latest" = first === undefined ? "latest" : first - 1;
  let failures = 0;
  let hasBegun = false;
  while (!stopping.aborted) {
    const connected = await connectEvents({ api, key, after, signal: stopping });
    if (stopping.aborted) return;
    let pauseMs = waitMs * 2 ** failures;
    if ("kind" in connected) {
      const { kind, detail } = connected;
      if (kind === "refused") throw new CommandError(`The API refuses: ${detail}`, { exitCode: 1 });
      if (!hasBegun)
        throw new CommandError(`No events from ${api}: ${detail}${hint(detail)}`, { exitCode: 1 });
      failures += 1;
      pauseMs = Math.min(connected.retryAfterMs ?? pauseMs, reconnectMaxMs);
      note(`No events for now: ${detail}. Trying again in ${Math.ceil(pauseMs / 1000)} s.`);
    } else {
      for await (const message of connected) {
        failures = 0;
        if (message.kind === "begin") {
          if (!hasBegun) note(`Listening, after event ${message.after}.`);
          else if (after !== message.after) note(`The API goes on after event ${message.after}.`);
          else note("Listening again.");
          hasBegun = true;
          after = message.removedUpTo ?? message.after;
          if (message.removedUpTo !== null)
            note(`Events up to ${message.removedUpTo} are not kept any more: they are left out.`);
        } else if (after === "latest" || message.sequence > after) {
          yield message;
          after = message.sequence;
        }
        if (stopping.aborted) return;
      }
      if (stopping.aborted) return;
      note("The connection has ended; connecting again.");
    }
    await sleep(Math.min(pauseMs, reconnectMaxMs), undefined, { signal: stopping }).catch(() => {});
  }
}

function hint(detail: string): string {
  return detail === "ECONNREFUSED" ? ". Is it running (npm start)? --api URL names another one." : ".";
}
