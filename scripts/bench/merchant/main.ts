import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { createSealer } from "../../../api/merchant/secrets/sealer.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import { createIndex } from "../../soak/follower-crashes/create-index.ts";
import { addEndpoint, addEvents, beginEpoch } from "./fill-outbox.ts";
import { measureLists, printLists } from "./measure-lists.ts";
import { measureBareLoop, measureOutbox, type OutboxResult } from "./measure-outbox.ts";
import { startReceivers } from "./start-receivers.ts";

/*
 * What the merchant side's outbox and lists cost:
 *
 *   npm run bench -- merchant
 *
 * - Webhooks a second, and CPU seconds for 1 000, of this process and of PostgreSQL (with fsync), over their whole way; beside undici
 *   alone with the same requests out of memory, which is the ceiling. Then again while one receiver hangs with thousands waiting for it
 *   and another one answers 500 to all.
 * - Lists of a wallet with 10 000 invoices and 100 000 deliveries, from the call to the parsed rows: 200 calls each.
 *
 * Ends with an error where an event did not arrive once, or a list is not what was written. Takes two minutes; Linux only, whose /proc
 * tells PostgreSQL's time.
 */

const waitingForHanging = 10_000;
const failing = 1000;

export async function main(): Promise<void> {
  const stops: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  try {
    const [postgres, receivers] = await Promise.all([
      startOwnPostgres(t, { fsync: "on" }),
      startReceivers(t),
    ]);
    const open = async (name: string) => {
      const url = await createIndex(postgres.url, name);
      const logger = pino({ level: "silent" });
      const db = createPostgresPool({ url, name: "bench", logger, statementTimeoutMs: 120_000 });
      t.teardown(() => db.end());
      await beginEpoch(db);
      return { db, postgresUrl: url, postgresPid: postgres.pid };
    };
    printLists(await measureLists(await open("bench_lists")));
    const sealer = createSealer({ keys: [randomBytes(32)] });
    const given = { ...(await open("bench_outbox")), receivers, sealer };
    const bare = await measureBareLoop({ ...given, keepAlive: false });
    print("undici alone, kept connections", await measureBareLoop({ ...given, keepAlive: true }), bare);
    print("undici alone, a connection each", bare, bare);
    // The first that a process does is before V8 has compiled it.
    await measureOutbox({ ...given, name: "first" });
    print("outbox", await measureOutbox({ ...given, name: "second" }), bare);
    for (const [path, count] of [
      ["/hangs", waitingForHanging],
      ["/fails", failing],
    ] as const) {
      const { wallet } = await addEndpoint(given.db, { url: `${receivers.url}${path}`, sealer });
      await addEvents(given.db, { wallet, count });
    }
    print("outbox, one hangs and one fails", await measureOutbox({ ...given, name: "third" }), bare);
  } finally {
    for (const stop of stops) await stop();
  }
}

function print(name: string, result: OutboxResult, bare: OutboxResult): void {
  const { aSecond, nodeSeconds, postgresSeconds } = result;
  process.stdout.write(
    `${name.padEnd(34)} ${String(Math.round(aSecond)).padStart(5)}/s (${(aSecond / bare.aSecond).toFixed(2)}); ` +
      `for 1 000: ${nodeSeconds.toFixed(2)} s of Node, ${postgresSeconds.toFixed(2)} s of PostgreSQL\n`,
  );
}
