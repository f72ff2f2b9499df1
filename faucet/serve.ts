import type { Logger } from "pino";
import { type AllowlistWatch, watchAllowlist } from "./allowlist/watch-allowlist.ts";
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
}): Promise<{
  payer: Payer;
  allowlist: AllowlistWatch;
  address: Awaited<ReturnType<typeof startListeners>>["address"];
}> {
  const { redis, wallet, metrics, chain, store, allowlist, admission, attempts } = parts;
  const watch = await watchAllowlist({ settings: config, store: allowlist, logger });
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
    settings: config,
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
    wallet,
    settings: config,
    readBalance: status.readBalance,
    wakePayer: payer.wake,
  });
  const listeners = await startListeners({
    ...{ config, takeClaim, admission, allowlist, attempts, chain, logger, now },
    status: status.read,
  });
  onStop(() => listeners.stop());
  return { payer, allowlist: watch, address: listeners.address };
}
