import type { Cluster, Redis } from "ioredis";
import { hasReplica } from "./cluster-client.ts";

/** A replica on a sound network answers within a millisecond or two. Meanwhile the connection carries nothing else. */
const confirmWithinMs = 100;
/** A replica that does not answer is asked again after this. */
const askAgainAfterMs = 1000;

type Confirmation = { asked: Promise<void> | undefined; askAfterMs: number };
const confirmations = new WeakMap<Redis, Confirmation>();

/**
 * Resolves when a replica has what was written on this connection until the end of this turn of the event loop (WAIT), so that a
 * failover to it loses none of that. One question serves all writes of a turn.
 *
 * A master without a replica that answers is believed all the same, after 100 ms and then at once for a second: no more
 * is lost than the master itself loses, as long as that replica is not the one that takes its place. The cluster's client logs it.
 */
export function confirmWrites({
  cluster,
  node,
  key,
}: {
  cluster: Cluster;
  node: Redis;
  /** Whose slot was written. */
  key: string;
}): Promise<void> {
  if (!hasReplica(cluster, key)) return Promise.resolve();
  const state = confirmations.get(node) ?? { asked: undefined, askAfterMs: 0 };
  confirmations.set(node, state);
  if (state.asked !== undefined) return state.asked;
  if (performance.now() < state.askAfterMs) return Promise.resolve();
  state.asked = new Promise((resolve) => {
    // Behind all that is sent in this turn.
    queueMicrotask(() => {
      state.asked = undefined;
      resolve(ask({ cluster, node, state }));
    });
  });
  return state.asked;
}

async function ask({ cluster, node, state }: { cluster: Cluster; node: Redis; state: Confirmation }) {
  const wasConfirmed = state.askAfterMs === 0;
  // Where the connection is lost the writes themselves have failed, or are answered by the node that took over.
  const replicas = await node.wait(1, confirmWithinMs).catch(() => undefined);
  if (replicas === undefined) return;
  state.askAfterMs = replicas > 0 ? 0 : performance.now() + askAgainAfterMs;
  if (wasConfirmed !== replicas > 0) cluster.emit(replicas > 0 ? "confirmed" : "unconfirmed", node);
}
