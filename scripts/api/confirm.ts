import { pino } from "pino";
import { CommandError } from "../../lib/cli/command.ts";
import { count, json } from "../../lib/cli/format.ts";
import { connectPostgres, type PostgresConnection } from "../../lib/postgres/postgres-connection.ts";
import { restoredAtSql, restoredRevocations, restoreMark } from "../../lib/postgres/restore-mark.ts";
import { onlyRow, readInteger, readNullable, readTime } from "../../lib/postgres/row.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ApiCommand } from "./command.ts";

export const confirmCommand: ApiCommand = {
  name: "confirm",
  positionals: [],
  summary: "After a restore: revokes again what was revoked, ends sessions, and lets merchants' keys pass.",
  details: [
    "The backups know which keys were revoked up to the last seconds, also behind the time to which PostgreSQL was restored.",
    "Until this command, keys of before the restore answer 503, and sessions of before are none. --check changes nothing.",
  ],
  options: { check: { text: "only tells what would be done; exit code 1 where a restore waits" } },
  examples: ["confirm --check", "confirm"],
  async run({ postgresUrl: url, values, json: asJson, print }) {
    const connection = await connectPostgres({ url, name: "npm run api", logger: pino({ level: "silent" }) });
    try {
      const { rows } = await connection.query(`select ${restoredAtSql} as restored_at`);
      const restoredAt = readNullable(readTime, onlyRow(rows), "restored_at");
      if (restoredAt === null) {
        print(asJson ? json({ restoredAt: null }) : "No restore waits to be confirmed.");
        return exitCodes.done;
      }
      const isCheck = values["check"] === true;
      const done = isCheck ? await look(connection, restoredAt) : await carryOut(connection, restoredAt);
      if (asJson) print(json({ restoredAt: restoredAt.toISOString(), confirmed: !isCheck, ...done }));
      else {
        const verb = isCheck ? "would be" : "were";
        print(
          `${count(done.revoked)} keys ${verb} revoked again, and ${count(done.sessions)} sessions ${verb} ended. ` +
            (isCheck
              ? `${count(done.held)} keys wait for it.`
              : "Merchants' keys pass; everybody signs in anew."),
        );
      }
      return isCheck ? exitCodes.failed : exitCodes.done;
    } finally {
      await connection.end();
    }
  },
};

/** The keys that the archive knows to be revoked. */
const revokedSql = `(select (k ->> 'id')::uuid as id, (k ->> 'revokedAt')::timestamptz as revoked_at
  from jsonb_array_elements(pg_read_file('${restoredRevocations}')::jsonb -> 'keys') k)`;

async function look(connection: PostgresConnection, restoredAt: Date) {
  const { rows } = await connection
    .query(
      `select (select count(*)::int from svc.api_keys k join ${revokedSql} r using (id) where k.revoked_at is null) as revoked,
        (select count(*)::int from svc.sessions where created_at < $1) as sessions,
        (select count(*)::int from svc.api_keys
          where revoked_at is null and expires_at > now() and created_at < $1) as held`,
      [restoredAt],
    )
    .catch(explain);
  const row = onlyRow(rows);
  return {
    revoked: readInteger(row, "revoked"),
    sessions: readInteger(row, "sessions"),
    held: readInteger(row, "held"),
  };
}

/** The mark goes last: what comes before can be done again. */
async function carryOut(connection: PostgresConnection, restoredAt: Date) {
  const found = await look(connection, restoredAt);
  await connection.query("begin");
  await connection.query(
    `with again as (update svc.api_keys k set revoked_at = r.revoked_at, secret_sealed = null, secret_sealed_until = null
        from ${revokedSql} r where r.id = k.id and k.revoked_at is null returning k.id, k.wallet)
      insert into svc.audit_log (wallet, actor, action, about)
        select wallet, 'operator', 'key.revoked', jsonb_build_object('key', id, 'why', 'restore') from again`,
  );
  await connection.query("delete from svc.sessions where created_at < $1", [restoredAt]);
  await connection.query("commit");
  await connection.query(`alter system reset ${restoreMark}`).catch(explain);
  await connection.query("select pg_reload_conf()");
  return found;
}

function explain(error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new CommandError(
    `The restore cannot be confirmed: ${why}. It reads ${restoredRevocations}, which the restore left in PostgreSQL's data folder, so the user has to be a superuser, as the one of the compose file is: name one with --postgres URL.`,
    { exitCode: 1 },
  );
}
