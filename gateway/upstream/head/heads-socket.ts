import type { Socket } from "node:net";
import { buildConnector, Client, WebSocket } from "undici";
import { basicAuthorization } from "../basic-authorization.ts";
import { type Header, isRecord, readHeader } from "./read-header.ts";

export type HeadsSocket = {
  /** When the present subscription was acknowledged (monotonic); undefined while there is none. */
  liveSinceMs(): number | undefined;
  lastHeadAtMs(): number | undefined;
  /** How often the subscription was made again. */
  reconnects(): number;
  /** Closes the connection. A new one follows after a pause. */
  drop(reason: string): void;
  stop(): void;
};

export type HeadsSocketLimits = {
  handshakeTimeoutMs: number;
  messageBytesMax: number;
  socketRetryMinMs: number;
  socketRetryMaxMs: number;
};

/**
 * Keeps one WebSocket with one `newHeads` subscription and nothing else on it: Besu answers all WebSockets of a node from one
 * queue, and larger answers corrupt the stream. It tries `addresses` in turn until one carries a subscription, and keeps that
 * one. It goes on to the next address only where something at the last one is not a WebSocket: an address that is down may
 * still be the right one.
 */
export function createHeadsSocket({
  addresses,
  limits,
  monotonicMs,
  random,
  onSubscribed,
  onHeader,
  onEnded,
}: {
  addresses: readonly string[];
  limits: HeadsSocketLimits;
  monotonicMs: () => number;
  random: () => number;
  onSubscribed: (address: string) => void;
  onHeader: (header: Header) => void;
  onEnded: (reason: string) => void;
}): HeadsSocket {
  let candidates = addresses;
  let tried = 0;
  let attempts = 0;
  let subscriptions = 0;
  let liveSinceMs: number | undefined;
  let lastHeadAtMs: number | undefined;
  let end: ((reason: string, refused: boolean) => void) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  function connect(): void {
    const address = candidates[tried % candidates.length];
    if (address === undefined || stopped) return;
    end = openSocket({
      address,
      limits,
      onSubscribed() {
        candidates = [address];
        subscriptions += 1;
        liveSinceMs = monotonicMs();
        onSubscribed(address);
      },
      onHeader(header) {
        attempts = 0;
        lastHeadAtMs = monotonicMs();
        onHeader(header);
      },
      onEnded(reason, refused) {
        end = undefined;
        liveSinceMs = undefined;
        if (refused) tried += 1;
        if (stopped) return;
        // The next address may be the right one: nothing is reported before all have been tried.
        if (refused && tried % candidates.length !== 0) {
          retry = setTimeout(connect, 0).unref();
          return;
        }
        const delayMs = Math.min(
          limits.socketRetryMaxMs,
          limits.socketRetryMinMs * 2 ** Math.min(attempts, 16),
        );
        attempts += 1;
        // The random half keeps many gateways from coming back at the same moment.
        retry = setTimeout(connect, delayMs / 2 + (random() * delayMs) / 2).unref();
        onEnded(reason);
      },
    });
  }

  connect();
  return {
    liveSinceMs: () => liveSinceMs,
    lastHeadAtMs: () => lastHeadAtMs,
    reconnects: () => Math.max(0, subscriptions - 1),
    drop: (reason) => end?.(reason, false),
    stop() {
      stopped = true;
      clearTimeout(retry);
      end?.("stopped", false);
    },
  };
}

/**
 * One attempt, from the connection to its end. Returns the function that ends it. It is undici's WebSocket over a connection
 * of ours and not the built-in one. `close()` waits for the other side (RFC 6455 section 7.1.1), so a validator that hangs
 * would keep the connection for ever, and the built-in one has no other way to end it.
 */
function openSocket({
  address,
  limits,
  onSubscribed,
  onHeader,
  onEnded,
}: {
  address: string;
  limits: HeadsSocketLimits;
  onSubscribed: () => void;
  onHeader: (header: Header) => void;
  onEnded: (reason: string, refused: boolean) => void;
}): (reason: string, refused: boolean) => void {
  const connector = buildConnector({ timeout: limits.handshakeTimeoutMs, allowH2: false });
  let connection: Socket | undefined;
  let subscription: string | undefined;
  let ended = false;
  const { host, protocol } = new URL(address);
  const client = new Client(`${protocol === "wss:" ? "https" : "http"}://${host}`, {
    allowH2: false,
    webSocket: { maxPayloadSize: limits.messageBytesMax },
    connect(options, callback) {
      connector(options, (...result) => {
        connection = result[1] ?? undefined;
        if (ended) connection?.destroy();
        callback(...result);
      });
    },
  });
  const authorization = basicAuthorization(address);
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const socket = new WebSocket(address, { dispatcher: client, headers });
  const handshake = setTimeout(
    () => finish("no subscription in time", false),
    limits.handshakeTimeoutMs,
  ).unref();

  function finish(reason: string, refused: boolean): void {
    if (ended) return;
    ended = true;
    clearTimeout(handshake);
    connection?.destroy();
    client.destroy().catch(() => {});
    onEnded(reason, refused);
  }

  socket.addEventListener("open", () => {
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  });
  socket.addEventListener("message", (event) => {
    if (ended) return;
    const message = readMessage(event.data);
    if (message.kind === "subscribed" && subscription === undefined) {
      subscription = message.subscription;
      clearTimeout(handshake);
      onSubscribed();
    } else if (message.kind === "head") {
      if (message.subscription === subscription) onHeader(message.header);
    } else finish("not a word about heads", subscription === undefined);
  });
  // Where something listens that is not a WebSocket, it ends before a subscription. An address that is down never connects.
  const closed = () => finish("closed", connection !== undefined && subscription === undefined);
  socket.addEventListener("error", closed);
  socket.addEventListener("close", closed);
  return finish;
}

type Message =
  | { kind: "subscribed"; subscription: string }
  | { kind: "head"; subscription: string; header: Header }
  | { kind: "other" };

function readMessage(data: unknown): Message {
  let message: unknown;
  try {
    message = typeof data === "string" ? JSON.parse(data) : undefined;
  } catch {
    return { kind: "other" };
  }
  if (!isRecord(message)) return { kind: "other" };
  const { id, result, params } = message;
  if (id === 1 && typeof result === "string") return { kind: "subscribed", subscription: result };
  if (message["method"] !== "eth_subscription" || !isRecord(params)) return { kind: "other" };
  const { subscription } = params;
  const header = readHeader(params["result"]);
  return typeof subscription === "string" && header !== undefined
    ? { kind: "head", subscription, header }
    : { kind: "other" };
}
