import { setTimeout as sleep } from "node:timers/promises";
import type { Teardown } from "../../processes/teardown.ts";
import type { SoakedGateway } from "../start-gateway.ts";
import { type Began, compareSeen } from "./compare-seen.ts";
import { type LogRequest, logKey, numberOf, type SeenChain, textOf } from "./emitters.ts";
import { openSubscriberSocket, type SubscriberSocket } from "./subscriber-socket.ts";

type Subscribed = { id: string; began: Began };

/** The heads and logs that one connection received, from its acknowledgements to its end. */
export type Segment = {
  client: SubscriberSocket;
  request: LogRequest;
  heads: Subscribed;
  logs: Subscribed;
  isEnded: () => boolean;
};

/** Subscribes to heads and logs, and subscribes again whenever the connection ends. */
export async function keepSubscribed({
  t,
  gateways,
  index,
  request,
  isOver,
}: {
  t: Teardown;
  gateways: readonly SoakedGateway[];
  index: number;
  request: LogRequest;
  isOver: () => boolean;
}): Promise<Segment[]> {
  const segments: Segment[] = [];
  while (!isOver()) {
    try {
      const client = await openSubscriberSocket(t, gateways[index % gateways.length]?.url ?? "");
      let isEnded = false;
      const closed = client.closed.then(() => {
        isEnded = true;
      });
      const heads = await subscribe(client, ["newHeads"]);
      const logs = await subscribe(client, ["logs", request.filter]);
      segments.push({ client, request, heads, logs, isEnded: () => isEnded });
      while (!isOver() && !isEnded) await Promise.race([closed, sleep(100)]);
    } catch {
      // Its gateway is being restarted.
      await sleep(50);
    }
  }
  return segments;
}

async function subscribe(client: SubscriberSocket, params: readonly unknown[]): Promise<Subscribed> {
  const from = Number(await client.call("eth_blockNumber"));
  const id = String(await client.call("eth_subscribe", params));
  return { id, began: { from, to: Number(await client.call("eth_blockNumber")) } };
}

/** How many notifications one connection received, and what is wrong with them, in words. */
export async function checkSegment({
  segment,
  chain,
  untilMs,
}: {
  segment: Segment;
  chain: SeenChain;
  /** How long a missing notification may still take. */
  untilMs: number;
}): Promise<{ heads: number; logs: number; problem: string | undefined }> {
  const { client, request, heads, logs, isEnded } = segment;
  const told = ({ id }: Subscribed) =>
    client.notifications.filter(({ subscription }) => subscription === id).map(({ result }) => result);
  const problem = () => {
    const seenHeads = told(heads).map((head) => ({
      number: numberOf(head, "number"),
      key: textOf(head, "hash"),
    }));
    const seenLogs = told(logs).map((log) => ({ number: numberOf(log, "blockNumber"), key: logKey(log) }));
    const isWhole = !isEnded();
    return (
      compareSeen({ seen: seenHeads, expected: chain.blocks, began: heads.began, isWhole }) ??
      compareSeen({ seen: seenLogs, expected: chain.logs(request), began: logs.began, isWhole })
    );
  };
  while (problem() !== undefined && performance.now() < untilMs) await sleep(20);
  return { heads: told(heads).length, logs: told(logs).length, problem: problem() };
}
