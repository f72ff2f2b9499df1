import { pino } from "pino";
import { z } from "zod";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";
import { readTime } from "../../../lib/postgres/row.ts";
import type { WriterKeys } from "../archive/key-files.ts";
import { addRevocations, lastRevocation, type RevokedKey } from "../archive/revocations.ts";

const statementTimeoutMs = 30_000;
/** A revocation has the time at which its transaction began, and is seen when that ends. */
const overlapMs = 300_000;
const serverSchema = z.object({ systemIdentifier: z.string(), isThere: z.boolean() });

/**
 * Adds to the archive which keys of merchants were revoked since it was last asked. A function that remembers what it has written, so that
 * each key is written once a process.
 */
export function createRevocationShipper({ url, to, keys }: { url: string; to: string; keys: WriterKeys }) {
  const written = new Set<string>();
  /** @returns how many were added. */
  return async (): Promise<number> => {
    const found = await askRevoked({ url, to });
    const revoked = found.keys.filter(({ id }) => !written.has(id));
    await addRevocations({ to, systemIdentifier: found.systemIdentifier, revoked, keys });
    written.clear();
    for (const { id } of found.keys) written.add(id);
    return revoked.length;
  };
}

/** Keys whose time is over are left out: they stay refused whatever is restored. */
async function askRevoked({
  url,
  to,
}: {
  url: string;
  to: string;
}): Promise<{ systemIdentifier: string; keys: readonly RevokedKey[] }> {
  const connection = await connectPostgres({
    url,
    name: "tollgate-backup",
    logger: pino({ level: "silent" }),
    statementTimeoutMs,
  });
  try {
    const server = await connection.query(
      `select (select system_identifier from pg_control_system())::text as "systemIdentifier", to_regclass('svc.api_keys') is not null as "isThere"`,
    );
    const { systemIdentifier, isThere } = serverSchema.parse(server.rows[0]);
    if (!isThere) return { systemIdentifier, keys: [] };
    const last = (await lastRevocation({ to, systemIdentifier }))?.getTime() ?? 0;
    const { rows } = await connection.query(
      "select id::text, revoked_at from svc.api_keys where revoked_at >= $1 and expires_at > now() order by revoked_at",
      [new Date(Math.max(0, last - overlapMs))],
    );
    const keys = rows.map((row) => ({
      id: z.string().parse(row["id"]),
      revokedAt: readTime(row, "revoked_at").toISOString(),
    }));
    return { systemIdentifier, keys };
  } finally {
    await connection.end();
  }
}
