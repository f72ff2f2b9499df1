import { pino } from "pino";
import { Registry } from "prom-client";
import { createHeadWatch } from "../../../api/follower/head-watch.ts";
import { createLedger, type LedgerOptions } from "../../../api/merchant/ledger/ledger.ts";
import { createRpcClient } from "../../../lib/chain/rpc-client.ts";
import { developmentFeeSettings } from "../../../lib/fee-collector/fee-settings.ts";
import type { Teardown } from "../../processes/teardown.ts";
import { until } from "../follower-crashes/until.ts";

export type OwnLedger = ReturnType<typeof startOwnLedger>;

/** A ledger over the chain at `url`, in this process and with quick polls. It stops with its owner. */
export function startOwnLedger(
  t: Teardown,
  { url, ...options }: { url: string } & Pick<LedgerOptions, "postgresUrl"> & Partial<LedgerOptions>,
) {
  const logLines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) });
  const rpc = createRpcClient({ url, timeoutMs: 5000 });
  const heads = createHeadWatch({ rpc, pollMs: () => 20, logger });
  const registry = new Registry();
  const ledger = createLedger({
    ...{ rpc, heads, registry, logger, isDevelopment: true, pollMs: 100, retryMinMs: 10 },
    feeCollector: developmentFeeSettings.feeCollector,
    publicUrl: "http://127.0.0.1:4000",
    ...options,
  });
  heads.start();
  ledger.start();
  let stopping: Promise<void> | undefined;
  async function end(): Promise<void> {
    heads.stop();
    await ledger.stop();
    await rpc.stop();
  }
  const stop = () => {
    stopping ??= end();
    return stopping;
  };
  t.teardown(stop);
  return {
    ...ledger,
    ...{ registry, logLines, stop },
    /** Resolves when block `number` is booked. */
    booked: (number: number) =>
      until(`block ${number} is booked`, () => (ledger.standing().nextBlock ?? 0) > number),
    /** Resolves when the ledger has begun, so that orders can be made. */
    begun: () => until("the ledger has begun", () => ledger.standing().epoch !== undefined),
  };
}
