import { setTimeout as sleep } from "node:timers/promises";
import type { RunningAnvil } from "../processes/start-anvil.ts";
import type { ChainState } from "./chain-state.ts";

export type ChainKeeper = {
  /** Saves the chain now, before anything else remembers a block of it. */
  save(): Promise<void>;
  /** Lets no more blocks be made, saves the chain a last time, and ends anvil. */
  stop(): Promise<void>;
};

/** How much of the chain a kill -9 of everything may lose. */
const saveEveryMs = 5000;
/** A long chain takes long to save, so saving gets at most a fiftieth of the time. */
const pauseForEachMs = 50;
const saveTimeoutMs = 60_000;
const lastSaveTimeoutMs = 5000;
const endWithinMs = 1000;

/** Saves the chain again and again while it runs. */
export function keepChain({
  anvil,
  state,
  say,
}: {
  anvil: RunningAnvil;
  state: ChainState;
  say: (text: string) => void;
}): ChainKeeper {
  const stopping = new AbortController();

  async function save(timeoutMs: number): Promise<void> {
    try {
      const dump = await anvil.rpc("anvil_dumpState", [], timeoutMs);
      if (typeof dump !== "string") throw new Error("anvil answered without a state");
      await state.save(dump);
    } catch (error) {
      if (anvil.child.running()) say(`The chain could not be saved: ${messageOf(error)}`);
    }
  }

  async function saveRepeatedly(): Promise<void> {
    let pauseMs = saveEveryMs;
    while (await waited(pauseMs)) {
      const beganAt = performance.now();
      await save(saveTimeoutMs);
      pauseMs = Math.max(saveEveryMs, pauseForEachMs * (performance.now() - beganAt));
    }
  }

  const waited = (pauseMs: number) => sleep(pauseMs, true, { signal: stopping.signal }).catch(() => false);
  const saving = saveRepeatedly();

  return {
    save: () => save(lastSaveTimeoutMs),
    async stop() {
      stopping.abort();
      if (anvil.child.running()) {
        // A block that is made after the last save would be gone at the next start.
        await anvil.rpc("evm_setIntervalMining", [0], lastSaveTimeoutMs).catch(() => {});
        // A save under way finishes first: two at once would write into one file.
        const finished = saving.then(() => true);
        if (await Promise.race([finished, sleep(lastSaveTimeoutMs, false, { ref: false })])) {
          await save(lastSaveTimeoutMs);
        }
      }
      await anvil.child.stop({ withinMs: endWithinMs });
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
