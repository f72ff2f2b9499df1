import type { Logger } from "pino";
import { Pool } from "undici";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { Reply } from "../server/exchange.ts";
import { type AnswerBody, type BodyFailure, createAnswerBody } from "./answer-body.ts";
import type { ExplorerSettings } from "./explorer-settings.ts";
import type { OpenAnswer } from "./open-answers.ts";
import { passedHeaders } from "./passed-headers.ts";
import { folderOf, placeOfRedirect } from "./target.ts";

export type ExplorerFailure = "away" | "late" | "unusable" | BodyFailure;

export type ExplorerRequest = {
  method: string;
  /** From a slash on, with the query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | undefined;
};

export type ExplorerClient = {
  /** The API's answer, whose place is given back when the reply is released. Never rejects. */
  ask(asked: ExplorerRequest, place: OpenAnswer): Promise<Reply | Refusal>;
  failures: ReadonlyMap<ExplorerFailure, number>;
  stop(): Promise<void>;
};

const connectTimeoutMs = 5000;
const headBytesMax = 16 * 1024;
/** Shorter than Fastify keeps an idle connection (72 s), so that none is used as it is being closed. */
const idleMs = 10_000;
/** A body up to here goes out whole and its connection stays; a longer one is streamed. */
const wholeBytesMax = 64 * 1024;

const retry = { headers: { "Retry-After": "5" } };
const away = refusal("upstream_unavailable", "The explorer does not answer; try again shortly", retry);
const unusable = refusal(
  "upstream_unavailable",
  "The explorer's answer cannot be used; tell your operator if it stays so",
  retry,
);
const none = refusal("upstream_unavailable", "There is no explorer behind this gateway");

/**
 * Asks the API for the explorer's pages. It is believed nothing: its head, its bodies and its time have bounds, and where
 * it sends a browser is looked at. `url` empty: there is no explorer.
 */
export function createExplorerClient({
  url,
  settings,
  logger,
}: {
  url: string;
  settings: ExplorerSettings;
  logger: Pick<Logger, "info" | "warn">;
}): ExplorerClient {
  const failures = new Map<ExplorerFailure, number>();
  if (url === "") {
    const ask = async (_asked: ExplorerRequest, place: OpenAnswer) => {
      place.leave();
      return none;
    };
    return { ask, failures, stop: async () => {} };
  }
  const base = new URL(url);
  const { openMax, headTimeoutMs, answerBytesMax, bodyTimeoutMs, eventsMsMax, stallMsMax } = settings;
  const pool = new Pool(base.origin, {
    connections: openMax,
    pipelining: 1,
    connectTimeout: connectTimeoutMs,
    headersTimeout: headTimeoutMs,
    // A silent connection of an event stream; the API says every 15 s that it is still there.
    bodyTimeout: bodyTimeoutMs,
    maxHeaderSize: headBytesMax,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });
  const { count, failed, answered } = createFailureCount({ url, failures, logger });

  async function begin({ method, target, headers, body }: ExplorerRequest, place: OpenAnswer) {
    const abort = new AbortController();
    place.end = (why) => {
      if (why === "key ended") abort.abort();
    };
    return pool.request({
      path: folderOf(base) + target,
      method: method === "HEAD" || method === "POST" ? method : "GET",
      headers,
      body: body ?? null,
      signal: abort.signal,
    });
  }

  async function ask(asked: ExplorerRequest, place: OpenAnswer): Promise<Reply | Refusal> {
    let response: Awaited<ReturnType<typeof begin>>;
    try {
      response = await begin(asked, place);
    } catch (error) {
      place.leave();
      if (place.ended !== "key ended") failed(error);
      return away;
    }
    answered();
    const { statusCode: status, headers: received, body: source } = response;
    const contentType = received["content-type"];
    const isEvents = typeof contentType === "string" && /^text\/event-stream\b/i.test(contentType);
    const body = createAnswerBody(source, {
      isEvents,
      bytesMax: answerBytesMax,
      timeoutMs: isEvents ? eventsMsMax : bodyTimeoutMs,
      stallMsMax,
      onFailure: count,
    });
    const location = locationOf(received["location"], { base, target: asked.target });
    if (location === "elsewhere" || !isUsable({ status, received, asked, answerBytesMax })) {
      body.stream().abort();
      place.leave();
      count("unusable");
      return unusable;
    }
    const headers = { ...passedHeaders(received), ...(location === undefined ? {} : { Location: location }) };
    const reply = { status, headers, ...(typeof contentType === "string" ? { contentType } : {}) };
    const hasBody = asked.method !== "HEAD" && status !== 204 && status !== 304;
    place.end = body.end;
    if (place.ended !== undefined) body.end(place.ended);
    const whole = isEvents && hasBody ? undefined : await body.whole(wholeBytesMax);
    if (whole === undefined) return { ...reply, ...streamed(body, place) };
    place.leave();
    if (typeof whole === "string") return whole === "ended" ? away : unusable;
    if (hasBody) return { ...reply, body: whole };
    const length = received["content-length"];
    const isTold = asked.method === "HEAD" && typeof length === "string";
    return {
      ...reply,
      headers: isTold ? { ...headers, "Content-Length": length } : headers,
      body: undefined,
    };
  }

  return { ask, failures, stop: () => pool.destroy() };
}

/** Counts failures, says once that the explorer is away, and once that it answers again. */
function createFailureCount({
  url,
  failures,
  logger,
}: {
  url: string;
  failures: Map<ExplorerFailure, number>;
  logger: Pick<Logger, "info" | "warn">;
}) {
  let answers = true;

  function count(why: ExplorerFailure): void {
    failures.set(why, (failures.get(why) ?? 0) + 1);
  }

  return {
    count,

    /** One page that is late, or cannot be read, does not mean that the API is away. */
    failed(error: unknown): void {
      const why = failureOf(error);
      count(why);
      if (why !== "away" || !answers) return;
      answers = false;
      logger.warn({ explorer: url, err: error }, "the explorer does not answer");
    },

    answered(): void {
      if (answers) return;
      answers = true;
      logger.info({ explorer: url }, "the explorer answers again");
    },
  };
}

function failureOf(error: unknown): ExplorerFailure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "UND_ERR_HEADERS_TIMEOUT") return "late";
  return code === "UND_ERR_HEADERS_OVERFLOW" || code.startsWith("HPE_") ? "unusable" : "away";
}

/** What is passed on while it comes. */
function streamed(body: AnswerBody, place: OpenAnswer): Pick<Reply, "body" | "release"> {
  const stream = body.stream();
  return {
    body: stream,
    release() {
      stream.abort();
      place.leave();
    },
  };
}

function locationOf(
  location: string | string[] | undefined,
  place: { base: URL; target: string },
): string | "elsewhere" | undefined {
  if (location === undefined) return undefined;
  if (Array.isArray(location)) return "elsewhere";
  return placeOfRedirect(location, place) ?? "elsewhere";
}

function isUsable({
  status,
  received,
  asked,
  answerBytesMax,
}: {
  status: number;
  received: Readonly<Record<string, string | string[] | undefined>>;
  asked: Pick<ExplorerRequest, "headers">;
  answerBytesMax: number;
}): boolean {
  const { "content-type": type, "content-encoding": encoding, "content-length": length } = received;
  if (status < 200 || status > 599) return false;
  if (encoding !== undefined && encoding !== asked.headers["Accept-Encoding"]) return false;
  if (Array.isArray(type) || (type !== undefined && !/^[\x20-\x7e]{1,200}$/.test(type))) return false;
  return length === undefined || Number(length) <= answerBytesMax;
}
