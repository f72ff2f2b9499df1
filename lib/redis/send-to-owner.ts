import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster, Redis } from "ioredis";
import { nodeAt, nodeOf, slotMoved } from "./cluster-client.ts";

/** More of them in a row say that the cluster moves faster than its own nodes know. */
const redirectsMax = 8;
const pauseBeforeTryAgainMs = 10;
/** A slot's keys are moved a few at a time: for so long those of one script may lie on two nodes. */
const tryAgainMaxMs = 200;

/**
 * Sends a command about one slot to the node that has it, and follows the nodes' word where that is another one: MOVED, ASK
 * and TRYAGAIN say that nothing was carried out. Whatever else fails is thrown, for it may have been.
 *
 * `send` calls `ask` right before each command, on the same connection.
 *
 * @throws ClusterNodeAwayError where that node is not connected to: nothing was sent.
 */
export async function sendToOwner<Answer>(
  cluster: Cluster,
  key: string,
  send: (node: Redis, ask: () => void) => Promise<Answer>,
): Promise<Answer> {
  const giveUpAtMs = performance.now() + tryAgainMaxMs;
  let node = nodeOf(cluster, key);
  let isAsking = false;
  for (let redirects = 0; ; redirects += 1) {
    if (node?.status !== "ready") throw new ClusterNodeAwayError(key);
    const owner = node;
    const ask = () => {
      if (isAsking) owner.asking().catch(() => {});
    };
    try {
      return await send(owner, ask);
    } catch (error) {
      const redirect = error instanceof Error ? readRedirect(error.message) : undefined;
      if (redirect === undefined) throw error;
      if (redirect.kind === "TRYAGAIN") {
        if (performance.now() >= giveUpAtMs) throw error;
        redirects -= 1;
        await sleep(pauseBeforeTryAgainMs);
        node = nodeOf(cluster, key);
      } else {
        if (redirects === redirectsMax) throw error;
        if (redirect.kind === "MOVED") slotMoved(cluster, redirect);
        node = await nodeAt(cluster, redirect.address);
      }
      isAsking = redirect.kind === "ASK";
    }
  }
}

type Redirect = { kind: "MOVED" | "ASK"; slot: number; address: string } | { kind: "TRYAGAIN" };

function readRedirect(message: string): Redirect | undefined {
  if (message.startsWith("TRYAGAIN")) return { kind: "TRYAGAIN" };
  const [, kind, slot, address] = /^(MOVED|ASK) (\d{1,5}) (\S+:\d+)$/.exec(message) ?? [];
  if ((kind !== "MOVED" && kind !== "ASK") || address === undefined) return undefined;
  return { kind, slot: Number(slot), address };
}

/** No node is connected to that has the slot: nothing was sent. */
export class ClusterNodeAwayError extends Error {
  override readonly name = "ClusterNodeAwayError";

  constructor(key: string) {
    super(`the node of the Redis cluster that has the slot of ${key} is not connected to`);
  }
}
