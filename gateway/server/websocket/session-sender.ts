import { type AnswerHold, uncountedBytesMax } from "../../answer-budget/answer-budget.ts";
import { isPieced, type PiecedBody } from "../../answer-budget/answer-chunks.ts";
import type { CloseReason } from "./close-codes.ts";

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

/** A frame's answer; none if it holds notifications only. `isKeyOver`: the key was revoked or has expired. */
export type FrameAnswer = {
  message: Uint8Array | string | PiecedBody | undefined;
  isKeyOver: boolean;
  /** Call it when nothing of a long message is held any more. */
  release: (() => void) | undefined;
};

/** Sends what one socket's client gets, and counts what the client has not read. */
export function createSessionSender({
  wire,
  waitingBytesMax,
  unread,
  isOver,
  end,
}: {
  wire: Wire;
  waitingBytesMax: number;
  unread: AnswerHold;
  isOver: () => boolean;
  end: (reason: CloseReason) => void;
}) {
  let unreadBytes = 0;

  function send(message: Uint8Array | string): void {
    if (isOver()) return;
    // Checked before and not after: one long answer alone may be longer than what may wait.
    if (wire.waitingBytes() > waitingBytesMax) end("tooSlow");
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
    if (message === undefined || isOver() || !isPieced(message)) {
      if (message !== undefined && !isOver() && !isPieced(message)) send(message);
      release?.();
      return;
    }
    if (wire.waitingBytes() > waitingBytesMax) {
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

  return { send, sendAnswer, countUnread };
}
