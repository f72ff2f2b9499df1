import type { Socket } from "node:net";
import { buildConnector, Client, WebSocket } from "undici";
import { z } from "zod";

/** From the connection to the answer to `eth_subscribe`. */
const handshakeTimeoutMs = 5000;
/** A header, with the bloom of its logs. */
const messageBytesMax = 1024 * 1024;

const subscribedSchema = z.object({ id: z.literal(1), result: z.string() });
const newsSchema = z.object({
  method: z.literal("eth_subscription"),
  params: z.object({ subscription: z.string(), result: z.unknown() }),
});

/**
 * One WebSocket with one subscription of `newHeads`, until it ends. It is undici's, since the built-in one can send no
 * headers, over a connection of ours: `close()` would wait for the other side, and one that hangs for ever.
 *
 * @returns how many heads came, and what ended it.
 */
export function openHeadsSocket({
  url,
  headers,
  onHead,
  signal,
}: {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The block as it was told. */
  onHead: (json: unknown) => void;
  signal: AbortSignal;
}): Promise<{ heads: number; reason: string }> {
  const { promise, resolve } = Promise.withResolvers<{ heads: number; reason: string }>();
  let connection: Socket | undefined;
  let subscription: string | undefined;
  let heads = 0;
  let isOver = false;

  const connector = buildConnector({ timeout: handshakeTimeoutMs, allowH2: false });
  const { host, protocol } = new URL(url);
  const client = new Client(`${protocol === "wss:" ? "https" : "http"}://${host}`, {
    allowH2: false,
    webSocket: { maxPayloadSize: messageBytesMax },
    connect(options, callback) {
      connector(options, (...result) => {
        connection = result[1] ?? undefined;
        if (isOver) connection?.destroy();
        callback(...result);
      });
    },
  });
  const socket = new WebSocket(url, { dispatcher: client, headers: { ...headers } });
  const handshake = setTimeout(() => finish("no subscription in time"), handshakeTimeoutMs);

  function finish(reason: string): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(handshake);
    signal.removeEventListener("abort", stop);
    connection?.destroy();
    client.destroy().catch(() => {});
    resolve({ heads, reason });
  }
  const stop = () => finish("stopped");
  signal.addEventListener("abort", stop);

  socket.addEventListener("open", () => {
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
  });
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    const message = parse(data);
    const subscribed = subscribedSchema.safeParse(message).data;
    if (subscribed !== undefined) {
      subscription = subscribed.result;
      clearTimeout(handshake);
      return;
    }
    const news = newsSchema.safeParse(message).data;
    if (news === undefined) return finish("not a word about heads");
    if (news.params.subscription !== subscription) return;
    heads += 1;
    onHead(news.params.result);
  });
  socket.addEventListener("error", () => finish("failed"));
  socket.addEventListener("close", ({ code, reason }) => finish(`closed with ${code} ${reason}`.trim()));
  return promise;
}

function parse(data: unknown): unknown {
  try {
    return typeof data === "string" ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}
