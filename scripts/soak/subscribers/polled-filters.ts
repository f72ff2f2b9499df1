import { setTimeout as sleep } from "node:timers/promises";
import type { SoakedGateway } from "../start-gateway.ts";
import type { Actor } from "../steps/run-steps.ts";
import { type Began, compareSeen, type Seen } from "./compare-seen.ts";
import { logKey, numberOf } from "./emitters.ts";

/** A filter, and all that its polls returned. */
export type Polled = { id: unknown; began: Began; results: unknown[]; failures: string[] };

const caughtUpWithinMs = 5000;

export async function makeFilter({
  gateways: [gateway],
  method,
  params,
}: {
  gateways: readonly SoakedGateway[];
  method: string;
  params: readonly unknown[];
}): Promise<Polled> {
  if (gateway === undefined) throw new Error("there is no gateway");
  const from = Number(await result(gateway, "eth_blockNumber"));
  const id = await result(gateway, method, params);
  const to = Number(await result(gateway, "eth_blockNumber"));
  return { id, began: { from, to }, results: [], failures: [] };
}

/** Polls a filter through the two gateways in turn, once a turn. */
export async function* keepPolling(polled: Polled, gateways: readonly SoakedGateway[]): Actor {
  for (let turn = 0; ; turn += 1) {
    const gateway = gateways[turn % gateways.length];
    if (gateway !== undefined) await pollOnce(polled, gateway);
    yield;
  }
}

async function pollOnce({ id, results, failures }: Polled, gateway: SoakedGateway): Promise<void> {
  try {
    const found = await result(gateway, "eth_getFilterChanges", [id]);
    if (Array.isArray(found)) results.push(...found);
  } catch (error) {
    // A restarting gateway refuses connections; an answer must never be an error.
    if (error instanceof AnsweredWithError) failures.push(error.message);
  }
}

/** What went wrong, in words: polls that failed, and logs that are missing or twice. */
export async function checkPolled({
  polled,
  expected,
  gateways,
}: {
  polled: Polled;
  expected: readonly Seen[];
  gateways: readonly SoakedGateway[];
}): Promise<string[]> {
  const seen = () =>
    polled.results.map((one) =>
      typeof one === "string"
        ? { number: expected.findIndex(({ key }) => key === one), key: one }
        : { number: numberOf(one, "blockNumber"), key: logKey(one) },
    );
  const endsAtMs = performance.now() + caughtUpWithinMs;
  const isCaughtUp = () => seen().at(-1)?.key === expected.at(-1)?.key;
  while (!isCaughtUp() && performance.now() < endsAtMs) {
    for (const gateway of gateways) await pollOnce(polled, gateway);
    await sleep(20);
  }
  const problem = compareSeen({ seen: seen(), expected, began: polled.began, isWhole: true });
  return [
    ...polled.failures.map((failure) => `a poll: ${failure}`),
    ...(problem === undefined ? [] : [`a filter: ${problem}`]),
  ];
}

class AnsweredWithError extends Error {}

async function result(gateway: SoakedGateway, method: string, params: readonly unknown[] = []) {
  const { json, text } = await gateway.post({ jsonrpc: "2.0", id: 1, method, params });
  if (typeof json === "object" && json !== null && "result" in json) return json.result;
  throw new AnsweredWithError(text);
}
