import type { GatewayUnderTest } from "../helpers/gateway.ts";

/** How often a gateway has answered with each HTTP status. */
export type AnswerCounts = ReadonlyMap<number, number>;

/** Taken from the gateway's own metrics, so that nothing stands between a client and the gateway. */
export async function countAnswers({ opsUrl }: Pick<GatewayUnderTest, "opsUrl">): Promise<AnswerCounts> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  const found = metrics.matchAll(/^tollgate_gateway_requests_total\{status="(\d+)"\} (\d+)$/gm);
  return new Map([...found].map(([, status, count]) => [Number(status), Number(count)]));
}

export async function totalOf(gateway: Pick<GatewayUnderTest, "opsUrl">): Promise<number> {
  return [...(await countAnswers(gateway)).values()].reduce((sum, count) => sum + count, 0);
}

/**
 * What was answered in between, in the words of the table: `401`, `12 × 429`. How many refusals came before a success
 * depends on when the window ended, so they are not counted there.
 */
export function describeAnswers({ before, after }: { before: AnswerCounts; after: AnswerCounts }): string {
  const fresh = [...after]
    .map(([status, count]) => ({ status, count: count - (before.get(status) ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.status - one.status);
  const [refused, ended] = fresh;
  if (refused === undefined) return "none";
  if (fresh.length === 2 && ended?.status === 200 && ended.count === 1) return `${refused.status}, then 200`;
  return fresh
    .map(({ status, count }) => (count === 1 ? String(status) : `${count} × ${status}`))
    .join(" and ");
}
