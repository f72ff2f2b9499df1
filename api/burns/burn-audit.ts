import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { RpcClient } from "../../lib/chain/rpc-client.ts";
import { type FeeSource, feeSources } from "../../lib/fee-collector/fee-sources.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readBigint, readInteger, readNullable, readText } from "../../lib/postgres/row.ts";
import { createBurnMetrics } from "./metrics.ts";
import { type ChainBurns, readChainBurns, type SourceSums } from "./read-chain-burns.ts";

export type BurnAudit = ReturnType<typeof createBurnAudit>;

const everyMsDefault = 60_000;

/**
 * Compares each minute, at the index's last block, what the index has summed up with what the FeeCollector says of itself and what lies in
 * the burn sink. Where the chain or PostgreSQL does not answer nothing is compared: that is told elsewhere.
 */
export function createBurnAudit({
  rpc,
  db,
  feeCollector,
  registry,
  logger,
  everyMs = everyMsDefault,
}: {
  rpc: Pick<RpcClient, "askAll">;
  db: Queryable;
  feeCollector: string;
  registry: Registry;
  logger: Logger;
  everyMs?: number;
}) {
  let differences: readonly string[] = [];
  const metrics = createBurnMetrics(registry);
  let running = Promise.resolve();

  async function compare(): Promise<void> {
    try {
      const index = await readIndexSums(db);
      if (index === undefined) return;
      const { blockNumber, sums } = index;
      const chain = await readChainBurns({ rpc, feeCollector, blockNumber });
      const found = differencesOf({ chain, sums });
      if (found.join() !== differences.join()) {
        if (found.length > 0) logger.error({ blockNumber, differences: found }, "burned fees differ");
        else logger.info({ blockNumber }, "burned fees are in order again");
      }
      differences = found;
      metrics.differences.set(found.length);
      metrics.comparedBlock.set(blockNumber);
    } catch (err) {
      logger.debug({ err }, "burned fees could not be compared");
    }
  }

  const timer = setInterval(() => {
    running = running.then(compare);
  }, everyMs);
  timer.unref();
  running = compare();

  return {
    /** Looks now. */
    compare,
    /** For /readyz: why the sums are not to be believed. */
    problem: (): string | undefined =>
      differences.length === 0 ? undefined : `burned fees differ from the chain: ${differences.join("; ")}`,
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * More in the sink than was burned is no difference: anybody may send it tokens.
 */
export function differencesOf({
  chain: { sink, totals },
  sums,
}: {
  chain: ChainBurns;
  sums: ReadonlyMap<string, SourceSums>;
}): string[] {
  const burned = feeSources.reduce((sum, source) => sum + totals[source].burned, 0n);
  const lost = sink.balance < burned;
  return [
    ...feeSources.flatMap((source) => differenceOf(source, sums.get(source) ?? nothing, totals[source])),
    ...(lost ? [`${burned} wei were burned, but ${sink.balance} lie in the burn sink`] : []),
  ];
}

const nothing: SourceSums = { fees: 0n, burned: 0n };

function differenceOf(source: FeeSource, index: SourceSums, chain: SourceSums): string[] {
  if (index.fees === chain.fees && index.burned === chain.burned) return [];
  const told = `${index.burned} of ${index.fees} wei in the index, ${chain.burned} of ${chain.fees} on chain`;
  return [`${source}: ${told}`];
}

/** Sums and last block of one moment; undefined while the index is empty. */
async function readIndexSums(
  db: Queryable,
): Promise<{ blockNumber: number; sums: ReadonlyMap<string, SourceSums> } | undefined> {
  const { rows } = await db.query({
    name: "burn-audit",
    text: `select follower.next, total.source, total.amount, total.burned from chain.follower
      left join (select source, sum(amount)::text as amount, sum(burned)::text as burned from chain.burn_total
        group by source) total on true`,
  });
  const [first] = rows;
  const next = first === undefined ? 0 : readInteger(first, "next");
  if (next === 0) return undefined;
  const sums = new Map(
    rows.flatMap((row): [string, SourceSums][] => {
      const source = readNullable(readText, row, "source");
      if (source === null) return [];
      return [[source, { fees: readBigint(row, "amount"), burned: readBigint(row, "burned") }]];
    }),
  );
  return { blockNumber: next - 1, sums };
}
