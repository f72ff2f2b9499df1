import { createParser, type EventSourceMessage } from "eventsource-parser";
import { z } from "zod";
import { plainText } from "./plain-text.ts";

/** What a connection tells: where the stream begins, or an event with its body as it came. */
export type Message =
  | { kind: "begin"; after: number; removedUpTo: number | null }
  | { kind: "event"; sequence: number; id: string; type: string; body: string };

/** Why there is no stream: for good (`refused`), or for now. */
export type NoStream =
  | { kind: "refused"; detail: string }
  | { kind: "away"; detail: string; retryAfterMs: number | undefined };

/** The API says something at least four times in this. */
const silenceMaxMs = 60_000;
/** An event's body is 64 KiB at most. */
const eventCharsMax = 262_144;
const problemCharsMax = 65_536;
const retryAfterMaxMs = 60_000;

const begin = z.looseObject({ after: z.int().min(0), removedUpTo: z.int().min(0).nullable() });
const body = z.looseObject({
  type: z.string().regex(/^[a-z.]{1,60}$/),
  id: z.string().regex(/^evt_[0-9A-Za-z]{22}$/),
  sequence: z.int().min(1),
});
const problem = z.looseObject({ detail: z.string() });

/** Asks once for the stream of events after a number. A stream that says nothing for a minute is left. */
export async function connectEvents({
  api,
  key,
  after,
  signal,
}: {
  api: string;
  key: string;
  after: number | "latest";
  signal: AbortSignal;
}): Promise<AsyncGenerator<Message> | NoStream> {
  const silent = new AbortController();
  const silence = setTimeout(() => silent.abort(), silenceMaxMs);
  try {
    const response = await fetch(`${api}/api/v1/svc-dev/v1/events?after=${after}`, {
      headers: { Accept: "text/event-stream", "X-Svc-Dev-Key": key },
      // A key goes to nobody but who was named.
      redirect: "manual",
      signal: AbortSignal.any([signal, silent.signal]),
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (response.status !== 200 || !isStream || response.body === null) {
      const refused = await readRefusal(response);
      clearTimeout(silence);
      return refused;
    }
    return readMessages(response.body, silence);
  } catch (error) {
    clearTimeout(silence);
    return { kind: "away", detail: reasonOf(error), retryAfterMs: undefined };
  }
}

/** Ends with the connection, also where that was cut. What is read is taken before more is. */
async function* readMessages(
  stream: AsyncIterable<Uint8Array>,
  silence: NodeJS.Timeout,
): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void arrived.push(event), maxBufferSize: eventCharsMax });
  try {
    for await (const chunk of stream) {
      silence.refresh();
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const event of arrived.splice(0)) {
        const message = readMessage(event);
        if (message !== undefined) yield message;
      }
    }
  } catch {
    // Cut off: it goes on with another connection.
  } finally {
    clearTimeout(silence);
  }
}

/** Undefined for what is of a later version of the API. */
function readMessage({ event, data }: EventSourceMessage): Message | undefined {
  const json = parseJson(data);
  if (event === "begin") {
    const read = begin.safeParse(json);
    return read.success ? { kind: "begin", ...read.data } : undefined;
  }
  const read = body.safeParse(json);
  return read.success ? { kind: "event", ...read.data, body: data } : undefined;
}

/** What the person at the terminal cannot change by waiting is for good. */
async function readRefusal(response: Response): Promise<NoStream> {
  const { status } = response;
  const text = await readStart(response);
  const told = problem.safeParse(parseJson(text));
  const detail = told.success
    ? plainText(told.data.detail)
    : `it answered ${status}, which is no stream of events`;
  if (status !== 429 && status < 500) return { kind: "refused", detail };
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = seconds > 0 ? Math.min(seconds * 1000, retryAfterMaxMs) : undefined;
  return { kind: "away", detail, retryAfterMs };
}

async function readStart({ body }: Response): Promise<string> {
  let text = "";
  if (body === null) return text;
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.length > problemCharsMax) break;
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
}
