import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { type AnswerCall, answerBody } from "./answer-body.ts";
import { type RpcBody, type RpcCall, readWebSocketMessage } from "./besu-framing.ts";
import { type CallCounters, countMethods } from "./call-counters.ts";
import { delay } from "./delay.ts";
import type { Faults } from "./faults.ts";
import type { Subscriber, Subscriptions } from "./subscriptions.ts";
import type { createWorkerSlots } from "./worker-slots.ts";

const messageBytesMax = 1_024 * 1_024; // one frame; ours are never split
const waitingMessagesMax = 10_000;

/** Besu's WebSocket side. Its answers come in one queue for all WebSockets: a slow call holds up every other. */
export function createWebSocketAnswers({
  faults,
  counters,
  workers,
  answerCall,
  subscriptions,
}: {
  faults: Faults;
  counters: CallCounters;
  workers: ReturnType<typeof createWorkerSlots>;
  answerCall: AnswerCall;
  subscriptions: Subscriptions;
}) {
  // A hung process answers no ping either, so pongs are sent by hand.
  const server = new WebSocketServer({ noServer: true, autoPong: false, maxPayload: 8 * messageBytesMax });
  let queue: Promise<void> = Promise.resolve();
  let queued = 0;

  function accept(socket: WebSocket): void {
    counters.webSockets += 1;
    const subscriber = subscriptions.open((frame) => {
      if (!faults.hung && faults.webSocket !== "silent") socket.send(frame);
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      counters.webSockets -= 1;
      subscriptions.close(subscriber);
    });
    socket.on("ping", (data) => void faults.responsive.then(() => socket.pong(data)));
    socket.on("message", (data: Buffer) => {
      if (data.length > messageBytesMax || queued >= waitingMessagesMax) return socket.close(1000);
      counters.webSocketMessages += 1;
      queued += 1;
      const messageText = data.toString("utf8");
      queue = queue
        .then(() => answer(socket, subscriber, messageText))
        .catch(() => socket.terminate())
        .finally(() => {
          queued -= 1;
        });
    });
  }

  async function answer(socket: WebSocket, subscriber: Subscriber, messageText: string): Promise<void> {
    const body = readWebSocketMessage(messageText);
    countMethods(counters, body);
    await faults.responsive;
    const text = await workers.run(async () => {
      if (faults.delayMs > 0) await delay(faults.delayMs);
      return (await answerBody(body, (call) => onSocket(subscriber, call), faults)).text;
    });
    await faults.responsive;
    socket.send(text === "" && isNotification(body) ? '{"type":"NONE","jsonrpc":"2.0"}' : text);
  }

  function onSocket(subscriber: Subscriber, call: RpcCall) {
    if (call.method === "eth_subscribe") return subscriptions.subscribe(subscriber, call.params);
    if (call.method === "eth_unsubscribe") return subscriptions.unsubscribe(subscriber, call.params);
    return answerCall(call);
  }

  return {
    upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
      if (faults.webSocket === "refused") {
        socket.end("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
      }
      void faults.responsive.then(() => server.handleUpgrade(request, socket, head, accept));
    },
    drop(): void {
      for (const socket of server.clients) socket.terminate();
    },
  };
}

function isNotification(body: RpcBody): boolean {
  return body.kind === "single" && "call" in body.item && body.item.call.idText === undefined;
}
