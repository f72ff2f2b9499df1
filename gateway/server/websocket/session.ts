import type { AnswerHold } from "../../answer-budget/answer-budget.ts";
import type { FrameCaller } from "../../subscriptions/answer-subscription.ts";
import type { Subscriber } from "../../subscriptions/subscriber-list.ts";
import type { SubscriptionRegistry } from "../../subscriptions/subscription-registry.ts";
import { type CloseReason, closeCodes } from "./close-codes.ts";
import { createFrameRate } from "./frame-rate.ts";
import { createSessionSender, type FrameAnswer, type Wire } from "./session-sender.ts";
import type { WebSocketSettings } from "./web-socket-settings.ts";

/** Never rejects. */
export type AnswerFrame = (
  frame: Uint8Array,
  from: { keyHash: string; caller: FrameCaller },
) => Promise<FrameAnswer>;

export type Session = {
  /** A whole message of the client. It is kept, so the memory must be its own. */
  message(bytes: Uint8Array): void;
  /** A control frame of the client, which the library has answered. */
  control(): void;
  /** The client has read. */
  drained(): void;
  closed(): void;
  end(reason: CloseReason): void;
  /** Closes once what is under way is answered. */
  stop(): void;
};

/** One socket's life: frames to answers, within its limits. */
export function createSession({
  wire,
  keyHash,
  settings,
  answerFrame,
  subscriptions,
  unread,
  monotonicMs,
  onClose,
}: {
  wire: Wire;
  keyHash: string;
  settings: WebSocketSettings;
  answerFrame: AnswerFrame;
  subscriptions: SubscriptionRegistry;
  /** What the client has not read, on its key's account and the process's. */
  unread: AnswerHold;
  monotonicMs: () => number;
  onClose: (reason: CloseReason) => void;
}): Session {
  const isWithinRate = createFrameRate({ perSecondMax: settings.framesPerSecondMax, nowMs: monotonicMs });
  let inFlight = 0;
  let isOver = false;
  let isStopping = false;
  const sender = createSessionSender({
    wire,
    waitingBytesMax: settings.waitingBytesMax,
    unread,
    isOver: () => isOver,
    end,
  });

  function end(reason: CloseReason): void {
    if (isOver) return;
    isOver = true;
    onClose(reason);
    wire.end(closeCodes[reason]);
  }

  const subscriber: Subscriber = {
    cork(write) {
      if (!isOver) wire.cork(write);
    },
    send: sender.send,
    end,
  };

  async function answer(bytes: Uint8Array): Promise<void> {
    inFlight += 1;
    const caller: FrameCaller = { subscriber, made: [] };
    const answered = await answerFrame(bytes, { keyHash, caller });
    const gone = sender.sendAnswer(answered);
    if (isOver) subscriptions.leave(subscriber);
    // Not before: a notification must not arrive ahead of the answer that names its subscription.
    else for (const subscription of caller.made) subscriptions.start(subscription);
    // A long answer is in flight until it is read.
    if (answered.release !== undefined) await gone;
    inFlight -= 1;
    if (isOver) return;
    if (answered.isKeyOver) end("keyEnded");
    else if (isStopping && inFlight === 0) end("stopping");
  }

  return {
    message(bytes) {
      if (isOver || isStopping) return;
      if (bytes.length > settings.messageBytesMax) end("tooLarge");
      else if (!isWithinRate()) end("tooManyFrames");
      else if (inFlight >= settings.framesInFlightMax) end("tooManyInFlight");
      else void answer(bytes);
    },
    control() {
      if (!isOver && !isWithinRate()) end("tooManyFrames");
    },
    drained: sender.countUnread,
    closed() {
      isOver = true;
      unread.release();
      subscriptions.leave(subscriber);
    },
    end,
    stop() {
      isStopping = true;
      if (inFlight === 0) end("stopping");
    },
  };
}
