import { z } from "zod";

export type ChargeResult = {
  taken: boolean;
  /** Of the client's points, after this request. */
  used: number;
  /** Until the window ends. */
  resetMs: number;
};

type Waiting = { cost: number; resolve: (result: ChargeResult) => void; reject: (error: unknown) => void };

/** A script's arguments are bounded; a client that has more under way is charged for them in turn. */
const chargesMax = 256;
const answerShape = z.array(z.number());

/**
 * Charges what a client asks in one turn of the event loop with one command, in the order in which it was asked: a command
 * costs a third of what the rest of an answer from memory does. Each request is still counted before it is answered.
 */
export function chargeTogether(
  ask: (client: string, costs: readonly number[]) => Promise<unknown>,
): (client: string, cost: number) => Promise<ChargeResult> {
  const waiting = new Map<string, Waiting[]>();

  function flush(): void {
    const all = [...waiting];
    waiting.clear();
    for (const [client, charges] of all) {
      for (let from = 0; from < charges.length; from += chargesMax) {
        void send(client, charges.slice(from, from + chargesMax));
      }
    }
  }

  async function send(client: string, charges: readonly Waiting[]): Promise<void> {
    try {
      const answer = await ask(
        client,
        charges.map(({ cost }) => cost),
      );
      const [resetMs = 0, ...results] = answerShape.length(1 + 2 * charges.length).parse(answer);
      for (const [index, { resolve }] of charges.entries()) {
        resolve({ taken: results[2 * index] === 1, used: results[2 * index + 1] ?? 0, resetMs });
      }
    } catch (error) {
      for (const { reject } of charges) reject(error);
    }
  }

  return (client, cost) =>
    new Promise((resolve, reject) => {
      // After every socket that can be read in this turn has been.
      if (waiting.size === 0) setImmediate(flush);
      const charges = waiting.get(client);
      const charge = { cost, resolve, reject };
      if (charges === undefined) waiting.set(client, [charge]);
      else charges.push(charge);
    });
}
