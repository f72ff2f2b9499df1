import type { SigningKey } from "ethers/crypto";
import { computeAddress } from "ethers/transaction";
import { createFifo } from "../drive/fifo.ts";
import { type AskGateway, askEach, quantitySchema, readAnswer } from "../http/ask-gateway.ts";
import type { SendFate } from "./fate-of-send.ts";

export type Sender = { key: SigningKey; address: string; nonce: number };

export type Senders = {
  addresses: readonly string[];
  /** A sender with no transaction on its way; `undefined` where none came free in time. */
  acquire(): Promise<Sender | undefined>;
  /**
   * Accepted: the nonce is used. Refused: it is free, and the next transaction takes it at once. Unknown: the chain is asked
   * for the next nonce first.
   */
  release(sender: Sender, fate: SendFate): void;
  /** Where each stands, and what became of its transactions. */
  standing(): { senders: Sender[]; firstNonces: number[]; fates: Readonly<Record<SendFate, number>> };
  /** Gives up waits that are longer than the timeout. */
  expire(): void;
  /** Gives up all waits, now and from now on. */
  abandon(): void;
};

type Waiting = { sinceMs: number; resolve: (sender: Sender | undefined) => void };

/**
 * Own accounts that send. Each has at most one transaction on its way to the gateway, so its nonces arrive in order and
 * none can leave a gap; many may wait in the pool to be mined.
 */
export async function createSenders({
  keys,
  ask,
  now,
  sleep,
  timeoutMs,
  resyncAfterMs,
}: {
  keys: readonly SigningKey[];
  ask: AskGateway;
  now: () => number;
  sleep: (lengthMs: number) => Promise<void>;
  timeoutMs: number;
  /** Between attempts to learn the nonce of a sender whose transaction has an unknown fate. */
  resyncAfterMs: number;
}): Promise<Senders> {
  const idle = createFifo<Sender>();
  const waiting = createFifo<Waiting>();
  const standings = new Map<string, Sender>();
  const fates = { accepted: 0, refused: 0, unknown: 0 };
  const accounts = keys.map((key) => ({ key, address: computeAddress(key) }));
  const counts = await askEach(ask, accounts, ({ address }) => askNonce(address));
  let isAbandoned = false;
  for (const [index, account] of accounts.entries()) {
    idle.push(standAt({ ...account, nonce: readCount(counts[index]) }));
  }
  const firstNonces = [...standings.values()].map(({ nonce }) => nonce);

  function standAt(sender: Sender): Sender {
    standings.set(sender.address, sender);
    return sender;
  }

  function handOut(sender: Sender): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(sender);
    else next.resolve(sender);
  }

  async function resync(sender: Sender): Promise<void> {
    while (!isAbandoned) {
      try {
        const [count] = await ask([askNonce(sender.address)]);
        handOut(standAt({ ...sender, nonce: readCount(count) }));
        return;
      } catch {
        await sleep(resyncAfterMs);
      }
    }
  }

  return {
    addresses: accounts.map(({ address }) => address),
    async acquire() {
      const sender = isAbandoned ? undefined : idle.shift();
      if (sender !== undefined || isAbandoned) return sender;
      return new Promise((resolve) => waiting.push({ sinceMs: now(), resolve }));
    },
    release(sender, fate) {
      fates[fate] += 1;
      if (fate === "accepted") handOut(standAt({ ...sender, nonce: sender.nonce + 1 }));
      else if (fate === "refused") handOut(sender);
      else void resync(sender);
    },
    standing: () => ({ senders: [...standings.values()], firstNonces, fates }),
    expire() {
      for (let first = waiting.first(); first !== undefined; first = waiting.first()) {
        if (now() - first.sinceMs < timeoutMs) return;
        waiting.shift()?.resolve(undefined);
      }
    },
    abandon() {
      isAbandoned = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) next.resolve(undefined);
    },
  };
}

const countMethod = "eth_getTransactionCount";

function readCount(answer: unknown): number {
  return Number(readAnswer(answer, { schema: quantitySchema, method: countMethod }));
}

function askNonce(address: string) {
  return { method: countMethod, params: [address, "pending"] };
}
