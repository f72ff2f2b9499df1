import type { AskGateway } from "../http/ask-gateway.ts";
import { askEach, quantitySchema, readAnswer } from "../http/ask-gateway.ts";
import type { Sender } from "./senders.ts";
import { signTransfer } from "./sign-transfer.ts";

/** What became of a run's transactions. */
export type Sends = {
  senders: number;
  /** Answered with their hash. */
  accepted: number;
  /** Refused in a way that leaves their nonce free: the sender's next transaction took it. */
  refused: number;
  /** Timed out or cut: the chain was asked for the next nonce. */
  unknown: number;
  /** Nonces that the chain counted during the run. */
  landed: number;
  /** Nonces that were missing in the chain below accepted ones, and were filled with a transfer of nothing. */
  filled: number;
  /** Accepted transactions that the chain does not have in the end. */
  stuck: number;
};

const lookEveryMs = 500;
const countMethod = "eth_getTransactionCount";

/**
 * Waits until the chain has counted each sender's accepted transactions. Where a count stands still for half of the time, a
 * nonce is missing (a validator dropped what it had accepted): it is filled, else all later ones would wait for ever.
 */
export async function settleSenders({
  ask,
  senders,
  withinMs,
  transfer,
  now,
  sleep,
  isOver,
}: {
  ask: AskGateway;
  /** Where each stands: the next nonce. */
  senders: readonly Sender[];
  withinMs: number;
  transfer: { gasPriceWei: bigint; chainId: bigint };
  now: () => number;
  sleep: (lengthMs: number) => Promise<void>;
  /** The run was ended early: one look is enough. */
  isOver: () => boolean;
}): Promise<{ counts: number[]; filled: number; stuck: number }> {
  const beganMs = now();
  const filled = new Set<string>();
  for (;;) {
    const counts = await readCounts(ask, senders);
    const behind = senders.filter(({ nonce }, index) => (counts[index] ?? 0) < nonce);
    const stuck = senders.reduce(
      (sum, { nonce }, index) => sum + Math.max(0, nonce - (counts[index] ?? 0)),
      0,
    );
    const waitedMs = now() - beganMs;
    if (behind.length === 0 || waitedMs >= withinMs || isOver())
      return { counts, filled: filled.size, stuck };
    if (waitedMs >= withinMs / 2) {
      for (const sender of behind) {
        const nonce = counts[senders.indexOf(sender)] ?? 0;
        const { raw } = signTransfer(sender.key, {
          ...transfer,
          ...{ to: sender.address, valueWei: 0n, data: "0x", gas: 21_000, nonce },
        });
        try {
          await ask([{ method: "eth_sendRawTransaction", params: [raw] }]);
          filled.add(`${sender.address} ${nonce}`);
        } catch {
          // The pool holds one with this nonce: it needs no other, only time.
        }
      }
    }
    await sleep(lookEveryMs);
  }
}

async function readCounts(ask: AskGateway, senders: readonly Sender[]): Promise<number[]> {
  const answers = await askEach(ask, senders, ({ address }) => ({
    method: countMethod,
    params: [address, "latest"],
  }));
  return answers.map((answer) => Number(readAnswer(answer, { schema: quantitySchema, method: countMethod })));
}

export function sumSends(all: readonly (Sends | undefined)[]): Sends | undefined {
  const known = all.filter((sends) => sends !== undefined);
  if (known.length === 0) return undefined;
  const sum = (read: (sends: Sends) => number) => known.reduce((total, sends) => total + read(sends), 0);
  return {
    senders: sum(({ senders }) => senders),
    accepted: sum(({ accepted }) => accepted),
    refused: sum(({ refused }) => refused),
    unknown: sum(({ unknown }) => unknown),
    landed: sum(({ landed }) => landed),
    filled: sum(({ filled }) => filled),
    stuck: sum(({ stuck }) => stuck),
  };
}
