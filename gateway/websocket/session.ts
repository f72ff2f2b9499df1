import type { FrameCaller } from "../news/subscriptions/answer-subscription.ts";
import type { SubscriptionHub } from "../news/subscriptions/hub.ts";
import type { Subscriber } from "../news/subscriptions/subscriber-list.ts";
import { type Ending, endings } from "./endings.ts";
import { createFrameRate } from "./frame-rate.ts";
import type { WebSocketSettings } from "./web-socket-settings.ts";

/** The socket itself, from its opening to its closing. */
export type Wire = {
  /** Sends a text message; copies it before it returns. */
  send(message: Uint8Array | string): void;
  cork(write: () => void): void;
  /** Bytes that the client has not taken yet. */
  waitingBytes(): number;
  /** Closes with a close frame; the session's `closed` is called before it returns. */
  end(ending: { code: number; reason: string }): void;
};

/** A frame's answer; nothing where all of it were notifications. `isKeyOver`: the key opens nothing any more. */
export type FrameAnswer = { message: Uint8Array | string | undefined; isKeyOver: boolean };

/** Never rejects. */
export type AnswerFrame = (
  frame: Uint8Array,
  from: { keyHash: string; caller: FrameCaller },
) => Promise<FrameAnswer>;

export type Session = {
  /** A message of the client, whole. Kept: the memory must be its own. */
  message(bytes: Uint8Array): void;
  /** A control frame of the client, which the library has answered. */
  control(): void;
  closed(): void;
  end(ending: Ending): void;
  /** Closes once what is under way is answered. */
  stop(): void;
};

/** One socket's life: frames to answers, within its limits. */
export function createSession({
  wire,
  keyHash,
  settings,
  answerFrame,
  hub,
  monotonicMs,
  onEnding,
}: {
  wire: Wire;
  keyHash: string;
  settings: WebSocketSettings;
  answerFrame: AnswerFrame;
  hub: SubscriptionHub;
  monotonicMs: () => number;
  onEnding: (ending: Ending) => void;
}): Session {
  const isWithinRate = createFrameRate({ perSecondMax: settings.framesPerSecondMax, nowMs: monotonicMs });
  let inFlight = 0;
  let isOver = false;
  let isStopping = false;

  function end(ending: Ending): void {
    if (isOver) return;
    isOver = true;
    onEnding(ending);
    wire.end(endings[ending]);
  }

  function send(message: Uint8Array | string): void {
    if (isOver) return;
    // Looked at before, not after: one long answer alone may be longer than what may wait.
    if (wire.waitingBytes() > settings.waitingBytesMax) end("tooSlow");
    else wire.send(message);
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
    const { message, isKeyOver } = await answerFrame(bytes, { keyHash, caller });
    inFlight -= 1;
    if (isOver) return hub.leave(subscriber);
    if (message !== undefined) send(message);
    // Not before: a notification must not arrive ahead of the answer that names its subscription.
    for (const subscription of caller.made) hub.start(subscription);
    if (isKeyOver) end("keyEnded");
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
    closed() {
      isOver = true;
      hub.leave(subscriber);
    },
    end,
    stop() {
      isStopping = true;
      if (inFlight === 0) end("stopping");
    },
  };
}
