import { isFeeSource } from "../../lib/fee-collector/fee-sources.ts";
import { readFeeEvent } from "../../lib/fee-collector/read-fee-event.ts";
import type { BurnContract } from "../follower/burns.ts";

/** Burns of the FeeCollector: its payments that had a fee. */
export function feeBurns(feeCollector: string): BurnContract {
  return {
    address: feeCollector,
    readBurn(log) {
      const event = readFeeEvent(log);
      // Its owner can let somebody sign for a source that nobody knows: such fees are in no sum of ours.
      if (event === undefined || event.fee === 0n || !isFeeSource(event.source)) return undefined;
      const { source, id, fee, burned } = event;
      const payer = event.kind === "paid" ? event.payer.toLowerCase() : null;
      return { source, orderId: id, payer, amount: fee, burned, treasury: fee - burned };
    },
  };
}
