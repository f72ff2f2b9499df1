import type { Logger } from "pino";
import { watchAllowlist } from "./allowlist/watch-allowlist.ts";
import type { FaucetConfig } from "./config.ts";
import type { FaucetParts } from "./faucet-parts.ts";
import { measureStatus } from "./measure-status.ts";
import { createLeader } from "./payer/leader.ts";
import { type Payer, startPayer } from "./payer/payer.ts";
import type { PayPoint } from "./payer/payer-context.ts";
import { createStatusReader } from "./read-status.ts";
import { startListeners } from "./start-listeners.ts";
import { createTakeClaim, type TakePoint } from "./take-claim.ts";

/** Between two steps, where a crash must not do harm. */
export type CrashPoint = TakePoint | PayPoint;

/**
 * Begins to pay and to take claims, once Redis and the chain have answered. `onStop` gets the function that ends each part,
 * in the order of the start. @throws Error where a port is taken.
 */
export async function serve({
  config,
  parts,
  genesisHash,
  logger,
  now,
  atPoint,
  onStop,
}: {
  config: FaucetConfig;
  parts: FaucetParts;
  genesisHash: string;
  logger: Logger;
  now: () => number;
  atPoint: (point: CrashPoint) => void | Promise<void>;
  onStop: (stop: () => unknown) => void;
}): Promise<{ payer: Payer; address: Awaited<ReturnType<typeof startListeners>>["address"] }> {
  const { redis, wallet, metrics, chain, store, allowlist, admission, attempts } = parts;
  const { allowlistFile: file, allowlistPollMs, amount: amountWei } = config;
  const watch = await watchAllowlist({ file, store: allowlist, pollMs: allowlistPollMs, logger });
  onStop(() => watch.stop());

  const leader = createLeader({ redis, leaderMs: config.leaderMs });
  const payer = startPayer({
    store,
    chain,
    wallet,
    genesisHash,
    leader,
    metrics,
    logger,
    now,
    atPoint,
    inFlightMax: config.inFlightMax,
    giveUpAfterMs: config.giveUpAfterMs,
    windowMs: config.limits.windowMs,
    perAddress: () => config.limits.perAddress,
    pollMs: config.pollMs,
    idlePollMs: config.idlePollMs,
    resendAfterMs: config.resendAfterMs,
  });
  onStop(() => payer.stop());

  const allowlistProblem = watch.problem;
  const { address } = wallet;
  const status = createStatusReader({
    ...{ redis, config, address, admission, allowlist, allowlistProblem, now },
  });
  const paymentsWait = () => payer.problems().length > 0;
  const measuring = measureStatus({ status: status.read, metrics, logger, paymentsWait });
  onStop(() => measuring.stop());

  const takeClaim = createTakeClaim({
    allowlist,
    admission,
    attempts,
    chain,
    metrics,
    logger,
    atPoint,
    amountWei,
    readBalance: status.readBalance,
    feeMaxWei: wallet.feeMaxWei,
    wakePayer: payer.wake,
  });
  const listeners = await startListeners({
    ...{ config, takeClaim, admission, allowlist, attempts, chain, logger, now },
    status: status.read,
  });
  onStop(() => listeners.stop());
  return { payer, address: listeners.address };
}
