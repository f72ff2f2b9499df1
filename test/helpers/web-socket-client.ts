import { once } from "node:events";
import WebSocket from "ws";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { coreKey } from "./gateway.ts";

/** What a gateway told of one subscription. */
export type Told = { subscription: string; result: unknown };

export type Closed = { code: number; reason: string };

export type WebSocketClient = {
  socket: WebSocket;
  /** The answer to a call as it came; rejects where the socket closes before. */
  request(method: string, params?: readonly unknown[]): Promise<{ result?: unknown; error?: RpcError }>;
  /** The result of a call; rejects where it was answered with an error. */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Notifications so far, in order. */
  told: Told[];
  /** Resolves when so many notifications of a subscription have come, with their results. */
  waitFor(subscription: string, count: number): Promise<unknown[]>;
  closed: Promise<Closed>;
  close(): Promise<void>;
};

export type RpcError = { code: number; message: string; data?: Readonly<Record<string, unknown>> };

const waitMsMax = 15_000;

/** A client of one socket, closed when the test ends. Rejects where the upgrade is refused, with its status. */
export async function openWebSocket(
  t: Teardown,
  url: string,
  { key = coreKey, protocols = [] }: { key?: string | null; protocols?: string[] } = {},
): Promise<WebSocketClient> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), protocols, {
    headers: key === null ? {} : { "X-API-Key": key },
    perMessageDeflate: false,
  });
  t.teardown(() => socket.terminate());
  const told: Told[] = [];
  const waiting = new Map<number, (answer: Answered | undefined) => void>();
  let lookAgain = () => {};
  let lastId = 0;
  const closed = new Promise<Closed>((resolve) => {
    socket.on("close", (code, reason) => {
      for (const settle of waiting.values()) settle(undefined);
      lookAgain();
      resolve({ code, reason: reason.toString() });
    });
  });
  socket.on("message", (data) => {
    const message: Message = JSON.parse(String(data));
    if ("params" in message) {
      told.push(message.params);
      lookAgain();
    } else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});

  async function request(method: string, params: readonly unknown[] = []) {
    lastId += 1;
    const id = lastId;
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = await new Promise<Answered | undefined>((resolve) => waiting.set(id, resolve));
    if (answer === undefined) throw new Error(`the socket closed before ${method} was answered`);
    return answer;
  }

  return {
    socket,
    told,
    closed,
    request,
    async call(method, params) {
      const { result, error } = await request(method, params);
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    async waitFor(subscription, count) {
      const results = () =>
        told.filter((one) => one.subscription === subscription).map(({ result }) => result);
      const endsAtMs = performance.now() + waitMsMax;
      while (results().length < count) {
        if (socket.readyState !== WebSocket.OPEN || performance.now() > endsAtMs) {
          throw new Error(`${results().length} of ${count} notifications came`);
        }
        await Promise.race([
          new Promise<void>((resolve) => {
            lookAgain = resolve;
          }),
          // A notification wakes it; the time is for a connection from which none come.
          new Promise((resolve) => setTimeout(resolve, 500)),
        ]);
      }
      return results();
    },
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close();
      await once(socket, "close");
    },
  };
}

type Answered = { id: number; result?: unknown; error?: RpcError };
type Message = Answered | { method: string; params: Told };
