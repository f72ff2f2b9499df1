import WebSocket from "ws";
import type { Teardown } from "../../processes/teardown.ts";
import { soakKeys } from "../start-gateway.ts";

/** A notification of one subscription. */
export type Notification = { subscription: string; result: unknown };

export type SubscriberSocket = {
  /** The result of a call. Rejects where the answer is an error, or the socket closes first. */
  call(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Notifications so far, in order. */
  notifications: readonly Notification[];
  closed: Promise<void>;
};

type Answer = { id: number; result?: unknown; error?: { message: string } };
type Message = Answer | { method: string; params: Notification };

/** A client with one WebSocket, which closes when its owner ends. Rejects where the upgrade is refused. */
export async function openSubscriberSocket(t: Teardown, url: string): Promise<SubscriberSocket> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), {
    headers: { "X-API-Key": soakKeys().core },
    perMessageDeflate: false,
  });
  t.teardown(() => socket.terminate());
  const notifications: Notification[] = [];
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  let lastId = 0;
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      for (const settle of waiting.values()) settle(undefined);
      resolve();
    });
  });
  socket.on("message", (data) => {
    const message: Message = JSON.parse(String(data));
    if ("params" in message) notifications.push(message.params);
    else waiting.get(message.id)?.(message);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});

  return {
    notifications,
    closed,
    async call(method, params = []) {
      lastId += 1;
      const id = lastId;
      const answered = new Promise<Answer | undefined>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const answer = await answered;
      waiting.delete(id);
      if (answer === undefined) throw new Error(`the socket closed before ${method} was answered`);
      if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    },
  };
}
