import type { HeadTracker } from "./head/head-tracker.ts";
import { ownWholeAnswer, type WholeAnswer } from "./upstream-result.ts";

export type AnnouncedHead = {
  number: number;
  bigNumber: bigint;
  /** As JSON text: a string of hex. */
  numberText: string;
  /** What `eth_blockNumber` is answered. */
  blockNumber: WholeAnswer;
};

/** Keeps the announced head in the forms that calls and answers need, so that no call has to make them. */
export function followAnnounced(
  head: Pick<HeadTracker, "onHead" | "onEpoch">,
): () => AnnouncedHead | undefined {
  let announced: AnnouncedHead | undefined;
  head.onHead(({ number, numberHex }) => {
    const numberText = `"${numberHex}"`;
    announced = {
      number: Number(number),
      bigNumber: number,
      numberText,
      blockNumber: ownWholeAnswer(numberText),
    };
  });
  head.onEpoch(() => {
    announced = undefined;
  });
  return () => announced;
}
