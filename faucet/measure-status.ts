import { formatEther } from "ethers/utils";
import type { Logger } from "pino";
import type { FaucetMetrics } from "./metrics.ts";
import type { StatusView } from "./read-status.ts";

const everyMs = 2000;

/** Shows how the faucet stands as metrics, and raises the alarm in the log when its wallet runs low. */
export function measureStatus({
  status,
  paymentsWait,
  metrics,
  logger,
}: {
  status: () => Promise<StatusView>;
  paymentsWait: () => boolean;
  metrics: FaucetMetrics;
  logger: Logger;
}): { stop(): void } {
  let wasLow = false;

  async function measure(): Promise<void> {
    metrics.paymentsWait.set(paymentsWait() ? 1 : 0);
    const { address, balance, isLow, waiting, underWay, paused, allowlist } = await status();
    if (balance !== null) metrics.balanceTokens.set(Number(formatEther(balance)));
    metrics.balanceLow.set(isLow ? 1 : 0);
    metrics.waiting.set(waiting);
    metrics.open.set(underWay);
    metrics.paused.set(paused ? 1 : 0);
    metrics.allowlistEntries.set(allowlist.entries);
    metrics.allowlistBad.set(allowlist.problem === null ? 0 : 1);
    if (isLow && !wasLow)
      logger.error({ balance, address }, "the faucet's wallet holds less than lowBalance");
    if (!isLow && wasLow) logger.info({ balance }, "the faucet's wallet was refilled");
    wasLow = isLow;
  }

  // /readyz tells of a Redis that does not answer. The gauges stay as they are.
  const look = () => void measure().catch(() => {});
  look();
  const timer = setInterval(look, everyMs);
  return { stop: () => clearInterval(timer) };
}
