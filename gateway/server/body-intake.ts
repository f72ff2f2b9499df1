import type { BodyBudget, BodyScope, HeldBody } from "./body-budget.ts";
import type { BodyLimits, BodyRead } from "./exchange.ts";

/** A body that comes in pieces, until its end, until a limit is met, or until the client leaves. */
export type BodyIntake = {
  push(chunk: ArrayBuffer, isLast: boolean): void;
  /** The whole body, where it has come. */
  whole(): Uint8Array | undefined;
  /** Gives the body to the key's owner; `done` is called once. */
  give(keyId: string, done: (body: BodyRead) => void): void;
  /** Drops the body; `done` is not called for it. */
  abandon(): void;
  abort(): void;
  /** The body has stopped before its end, and nothing more of it will come. */
  stall(): void;
};

/** Small pieces are joined in blocks of this size, so that a body sent byte by byte holds no more than its bytes. */
const blockBytes = 16 * 1024;
const firstBlockBytes = 1024;

export function createBodyIntake({
  budget,
  address,
  limits: { bodyBytesMax, bodyTimeoutMs },
}: {
  budget: BodyBudget;
  address: string;
  limits: BodyLimits;
}): BodyIntake {
  let blocks: Buffer[] = [];
  /** How much of the last block is used. */
  let used = 0;
  let bytes = 0;
  let outcome: BodyRead | undefined;
  let onDone: ((body: BodyRead) => void) | undefined;
  const held: HeldBody = budget.begin({ address, drop: (scope) => settle(refusedBy[scope]) });
  const timer = setTimeout(() => settle("too slow"), bodyTimeoutMs);

  function settle(read: BodyRead): void {
    if (outcome !== undefined) return;
    outcome = read;
    clearTimeout(timer);
    blocks = [];
    if (read instanceof Uint8Array) held.end();
    else held.release();
    tell();
  }

  function tell(): void {
    if (outcome === undefined || onDone === undefined) return;
    const done = onDone;
    onDone = undefined;
    try {
      done(outcome);
    } finally {
      held.release();
    }
  }

  function keep(piece: Buffer): void {
    const last = blocks.at(-1);
    const fits = last === undefined ? 0 : Math.min(last.length - used, piece.length);
    if (last !== undefined) piece.copy(last, used, 0, fits);
    used += fits;
    const rest = piece.length - fits;
    if (rest === 0) return;
    const block = Buffer.allocUnsafeSlow(Math.max(rest, blocks.length === 0 ? firstBlockBytes : blockBytes));
    piece.copy(block, 0, fits);
    blocks.push(block);
    used = rest;
    held.hold(block.length);
  }

  return {
    push(chunk, isLast) {
      if (outcome !== undefined) return;
      bytes += chunk.byteLength;
      if (bytes > bodyBytesMax) return settle("too large");
      keep(Buffer.from(chunk));
      // Holding more may have cost this body its place.
      if (isLast && outcome === undefined) settle(Buffer.concat(blocks, bytes));
    },
    whole: () => (outcome instanceof Uint8Array ? outcome : undefined),
    give(keyId, done) {
      onDone = done;
      if (outcome === undefined || outcome instanceof Uint8Array) held.assign(keyId);
      tell();
    },
    abandon() {
      onDone = undefined;
      settle("aborted");
      held.release();
    },
    abort: () => settle("aborted"),
    stall: () => settle("stalled"),
  };
}

const refusedBy: Readonly<Record<BodyScope, BodyRead>> = {
  key: "too many of the key",
  address: "too many of the address",
  process: "too many",
};
