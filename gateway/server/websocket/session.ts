import { type AnswerHold, uncountedBytesMax } from "../../answer-budget/answer-budget.ts";
import { isPieced, type PiecedBody } from "../../answer-budget/answer-chunks.ts";
import type { FrameCaller } from "../../subscriptions/answer-subscription.ts";
import type { Subscriber } from "../../subscriptions/subscriber-list.ts";
import type { SubscriptionRegistry } from "../../subscriptions/subscription-registry.ts";
import { type CloseReason, closeCodes } from "./close-codes.ts";
import { createFrameRate } from "./frame-rate.ts";
import type { WebSocketSettings } from "./web-socket-settings.ts";

/** The socket itself, from its opening to its closing. */
export type Wire = {
  /** Sends a text message; copies it before it returns. */
  send(message: Uint8Array | string): void;
  /** Sends a long one in parts, as it is read. `onGone` is called once, when nothing of it is held here any more. */
  sendLong(body: PiecedBody, onGone: () => void): void;
  cork(write: () => void): void;
  /** Bytes that the client has not taken yet, but for a long message that is being sent. */
  waitingBytes(): number;
  /** The part of them that only the session counts. */
  uncountedBytes(): number;
  /** Closes with a close frame; the session's `closed` is called before it returns. */
  end(close: { code: number; reason: string }): void;
};

/** A frame's answer; nothing for notifications alone. `isKeyOver`: the key opens nothing any more. */
export type FrameAnswer = {
  message: Uint8Array | string | PiecedBody | undefined;
  isKeyOver: boolean;
  /** To be called when nothing of a long message is held any more. */
  release: (() => void) | undefined;
};

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
  let unreadBytes = 0;

  function end(reason: CloseReason): void {
    if (isOver) return;
    isOver = true;
    onClose(reason);
    wire.end(closeCodes[reason]);
  }

  function send(message: Uint8Array | string): void {
    if (isOver) return;
    // Looked at before, not after: one long answer alone may be longer than what may wait.
    if (wire.waitingBytes() > settings.waitingBytesMax) end("tooSlow");
    else {
      wire.send(message);
      countUnread();
    }
  }

  /** Nearly always nothing waits, and this is one comparison. */
  function countUnread(): void {
    const bytes = wire.uncountedBytes();
    const counted = bytes <= uncountedBytesMax ? 0 : bytes;
    if (counted === unreadBytes) return;
    unreadBytes = counted;
    if (!unread.set(counted)) end("tooSlow");
  }

  /** Hands an answer over; resolves when nothing of it is held here any more. */
  async function sendAnswer({ message, release }: FrameAnswer): Promise<void> {
    if (message === undefined || isOver || !isPieced(message)) {
      if (message !== undefined && !isOver && !isPieced(message)) send(message);
      release?.();
      return;
    }
    if (wire.waitingBytes() > settings.waitingBytesMax) {
      release?.();
      return end("tooSlow");
    }
    await new Promise<void>((gone) => {
      wire.sendLong(message, () => {
        release?.();
        gone();
      });
      countUnread();
    });
  }

  const subscriber: Subscriber = {
    cork(write) {
      if (!isOver) wire.cork(write);
    },
    send,
    end,
  };

  async function answer(bytes: Uint8Array): Promise<void> {
    inFlight += 1;
    const caller: FrameCaller = { subscriber, made: [] };
    const answered = await answerFrame(bytes, { keyHash, caller });
    const gone = sendAnswer(answered);
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
    drained: countUnread,
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
