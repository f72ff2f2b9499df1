import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { connectPostgres, type PostgresConnection } from "../../lib/postgres/postgres-connection.ts";
import { onlyRow, readBoolean } from "../../lib/postgres/row.ts";
import { type IndexRow, indexChannel, readIndexNews, readIndexRow } from "./index-row.ts";

/** The lock of whoever writes the index: "follower" in ASCII. */
export const leaderLock = 0x666f6c6c6f776572n;

/** A server that says nothing for so long is left, and the lock with it. */
const answerWithinMs = 5000;

export type IndexSession = ReturnType<typeof startIndexSession>;

/**
 * The connection by which a process knows where the index ends, and whether it is the one that writes it. One process
 * holds the lock; when its connection ends, so does its hold, and another that asks every `pollMs` gets it. The lock only
 * saves work: what keeps the rows right is the comparison in writeRange.
 */
export function startIndexSession({
  url,
  lock,
  pollMs,
  logger,
  beginRead,
  onNews,
  onConnected,
  onLeader,
}: {
  url: string;
  lock: bigint;
  pollMs: number;
  logger: Pick<Logger, "info" | "warn">;
  /** Before PostgreSQL is asked, every `pollMs`; what it returns takes the answer, undefined where no index has been begun. */
  beginRead: () => (row: IndexRow | undefined) => void;
  /** As soon as it is committed, by whichever process. */
  onNews: (news: Pick<IndexRow, "epoch" | "next">) => void;
  onConnected: (isConnected: boolean) => void;
  onLeader: (isLeader: boolean) => void;
}) {
  const stopped = new AbortController();
  let isLeader = false;

  const pause = () => sleep(pollMs, undefined, { signal: stopped.signal }).catch(() => {});

  function setLeader(leads: boolean): void {
    if (leads === isLeader) return;
    isLeader = leads;
    logger.info(leads ? "this process writes the index" : "this process no longer writes the index");
    onLeader(leads);
  }

  async function hold(connection: PostgresConnection): Promise<void> {
    let hasEnded = false;
    const ended = connection.ended.then(() => {
      hasEnded = true;
      setLeader(false);
    });
    connection.onNotification(({ payload }) => {
      const news = readIndexNews(payload);
      if (news !== undefined) onNews(news);
    });
    await inTime(connection.query(`listen ${indexChannel}`));
    onConnected(true);
    while (!stopped.signal.aborted && !hasEnded) {
      const onRow = beginRead();
      onRow(await inTime(readIndexRow(connection)));
      if (!isLeader) {
        const { rows } = await inTime(connection.query("select pg_try_advisory_lock($1) as taken", [lock]));
        // It may have ended while it answered.
        if (!hasEnded) setLeader(readBoolean(onlyRow(rows), "taken"));
      }
      await Promise.race([pause(), ended]);
    }
  }

  async function run(): Promise<void> {
    let lastSaid: string | undefined;
    while (!stopped.signal.aborted) {
      let connection: PostgresConnection | undefined;
      try {
        connection = await connectPostgres({ url, name: "api follower", logger });
        lastSaid = undefined;
        await hold(connection);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (message !== lastSaid)
          logger.warn({ err: error }, "PostgreSQL cannot be asked where the index ends");
        lastSaid = message;
      }
      onConnected(false);
      setLeader(false);
      // One that hangs would never say goodbye.
      if (connection !== undefined) await inTime(connection.end()).catch(() => {});
      if (!stopped.signal.aborted) await pause();
    }
  }

  const running = run();
  return {
    isLeader: () => isLeader,
    async stop(): Promise<void> {
      stopped.abort();
      await running;
    },
  };
}

async function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  const answered = new AbortController();
  const late = sleep(answerWithinMs, undefined, { signal: answered.signal }).then(
    () => {
      throw new Error(`PostgreSQL did not answer within ${answerWithinMs} ms`);
    },
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
