import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CrashReplica } from "../crash-replica.ts";

export type Claimer = ReturnType<typeof createClaimer>;

const claimRetryMs = 50;
const followMs = 30;
const acceptedSchema = z.object({ claim: z.object({ id: z.string() }) });

/**
 * Claims for addresses, through the replicas in turn. Each claim is repeated with its Idempotency-Key until it is
 * accepted. Where nothing is accepted or confirmed for `progressWithinMs`, the rest counts as lost: the bound is on
 * progress, since a slow machine needs longer for all of it.
 */
export function createClaimer({
  addresses,
  replicas,
  progressWithinMs,
}: {
  addresses: readonly string[];
  replicas: readonly CrashReplica[];
  progressWithinMs: number;
}) {
  let progressAtMs = performance.now();
  const madeProgress = () => {
    progressAtMs = performance.now();
  };
  const isStuck = () => performance.now() - progressAtMs > progressWithinMs;
  /** Claims' ids by address. */
  const accepted = new Map<string, string>();
  const underWay: Promise<void>[] = [];
  const urlOf = (turn: number) => replicas[turn % replicas.length]?.url();

  async function untilAccepted(address: string, first: number): Promise<void> {
    for (let turn = first; !isStuck(); turn += 1) {
      const id = await claimOnce(urlOf(turn), address);
      if (id !== undefined) {
        accepted.set(address, id);
        madeProgress();
        return;
      }
      await sleep(claimRetryMs);
    }
  }

  return {
    accepted: (): ReadonlyMap<string, string> => accepted,

    /** Begins the claim of the address with this index. */
    begin(index: number): void {
      const address = addresses[index];
      if (address !== undefined) underWay.push(untilAccepted(address, index));
    },

    async follow(index: number): Promise<void> {
      const id = accepted.get(addresses[index] ?? "");
      if (id !== undefined) await isConfirmed(urlOf(index), id);
    },

    /** Resolves when every claim that was begun is accepted. */
    async allAccepted(): Promise<void> {
      await Promise.all(underWay);
    },

    /** Follows the accepted claims until all are confirmed. @returns how many are. */
    async allConfirmed(): Promise<number> {
      const open = new Set(accepted.values());
      madeProgress();
      for (let turn = 0; open.size > 0 && !isStuck(); turn += 1) {
        const [id = ""] = open;
        open.delete(id);
        if (await isConfirmed(urlOf(turn), id)) {
          madeProgress();
          continue;
        }
        // It waits its turn behind the others.
        open.add(id);
        await sleep(followMs);
      }
      return accepted.size - open.size;
    },
  };
}

/** The claim's id; undefined where it was not accepted, or no answer came. */
async function claimOnce(url: string | undefined, address: string): Promise<string | undefined> {
  if (url === undefined) return undefined;
  try {
    const response = await fetch(`${url}/claim`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": address },
      body: JSON.stringify({ address, website: "" }),
    });
    const answer: unknown = await response.json();
    return response.status === 202 ? acceptedSchema.parse(answer).claim.id : undefined;
  } catch {
    return undefined;
  }
}

async function isConfirmed(url: string | undefined, id: string): Promise<boolean> {
  if (url === undefined) return false;
  try {
    return (await (await fetch(`${url}/claims/${id}`)).text()).includes('"status":"confirmed"');
  } catch {
    return false;
  }
}
