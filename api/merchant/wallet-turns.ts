import { type Refusal, refusal } from "../../lib/http-service/refusal.ts";

/** More than anybody needs who does not try what happens. */
const waitingMax = 100;

export type WalletTurns = {
  /** Runs `work` when all before it of the same wallet have ended; a refusal where too many wait. */
  take<Value>(wallet: string, work: () => Promise<Value>): Promise<Value | Refusal>;
};

/**
 * One at a time of what takes a wallet's lock in PostgreSQL. Two of a process would wait for each other anyway, each with one of the
 * pool's connections: some ten requests of one wallet would have all of them, and everybody else none.
 */
export function createWalletTurns(): WalletTurns {
  const last = new Map<string, { ended: Promise<unknown>; waiting: number }>();

  return {
    async take(wallet, work) {
      const turn = last.get(wallet) ?? { ended: Promise.resolve(), waiting: 0 };
      if (turn.waiting >= waitingMax) return tooMany;
      last.set(wallet, turn);
      turn.waiting += 1;
      const before = turn.ended;
      const mine = before.then(work);
      turn.ended = mine.catch(() => {});
      try {
        return await mine;
      } finally {
        turn.waiting -= 1;
        if (turn.waiting === 0) last.delete(wallet);
      }
    },
  };
}

const tooMany = refusal(
  "rate_limited",
  `At most ${waitingMax} requests of a wallet can wait at once; send one after the other`,
  {
    retryAfterMs: 1000,
  },
);
