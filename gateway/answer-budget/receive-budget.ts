/**
 * Counts the memory of answers while they come in from validators. They count from `streamFromBytes` on, so short ones always
 * find room.
 */
export type ReceiveBudget = {
  /** The room of one validator: at most half of all, so that a validator that lies leaves room for the others' answers. */
  forValidator(): ReceiveRoom;
  heldBytes(): number;
  /** Answers that found no room. */
  refused(): number;
};

export type ReceiveRoom = {
  /** False where there is no room for so many more bytes. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
};

export function createReceiveBudget({
  answersBytesMax,
  answerBytesMax,
}: {
  answersBytesMax: number;
  answerBytesMax: number;
}): ReceiveBudget {
  // One answer of the greatest length must find room where no other one comes in.
  const validatorBytesMax = Math.max(answerBytesMax, Math.floor(answersBytesMax / 2));
  let heldBytes = 0;
  let refused = 0;

  return {
    forValidator() {
      let ofValidator = 0;
      return {
        take(bytes) {
          if (ofValidator + bytes > validatorBytesMax || heldBytes + bytes > answersBytesMax) {
            refused += 1;
            return false;
          }
          ofValidator += bytes;
          heldBytes += bytes;
          return true;
        },
        giveBack(bytes) {
          ofValidator -= bytes;
          heldBytes -= bytes;
        },
      };
    },
    heldBytes: () => heldBytes,
    refused: () => refused,
  };
}
