import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { createSealer } from "../../../api/merchant/secrets/sealer.ts";
import { createPostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { startOwnPostgres } from "../../processes/own-postgres.ts";
import { createIndex } from "../../soak/follower-crashes/create-index.ts";
import { beginEpoch } from "./fill-outbox.ts";
import { measureBareLoop, measureOutbox, type OutboxResult } from "./measure-outbox.ts";
import { startReceivers } from "./start-receivers.ts";

export async function main(): Promise<void> {
  const stops: (() => unknown)[] = [];
  const t = { teardown: (stop: () => unknown) => stops.unshift(stop) };
  try {
    const [postgres, receivers] = await Promise.all([
      startOwnPostgres(t, { fsync: "on" }),
      startReceivers(t),
    ]);
    const postgresUrl = await createIndex(postgres.url, "bench_merchant");
    const db = createPostgresPool({
      url: postgresUrl,
      name: "bench",
      logger: pino({ level: "silent" }),
      statementTimeoutMs: 120_000,
    });
    t.teardown(() => db.end());
    await beginEpoch(db);
    const sealer = createSealer({ keys: [randomBytes(32)] });
    const given = { db, postgresUrl, postgresPid: postgres.pid, receivers, sealer };
    print("undici alone, kept connections", await measureBareLoop({ ...given, keepAlive: true }));
    print("undici alone, a connection each", await measureBareLoop({ ...given, keepAlive: false }));
    print("outbox", await measureOutbox({ ...given, name: "first" }));
    print("outbox", await measureOutbox({ ...given, name: "second" }));
  } finally {
    for (const stop of stops) await stop();
  }
}

function print(name: string, { aSecond, nodeSeconds, postgresSeconds }: OutboxResult): void {
  process.stdout.write(
    `${name.padEnd(34)} ${Math.round(aSecond)}/s; for 1 000: ${nodeSeconds.toFixed(2)} s of Node, ${postgresSeconds.toFixed(2)} s of PostgreSQL\n`,
  );
}
