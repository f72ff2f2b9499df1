import { randomUUID } from "node:crypto";
import { checksumAddress } from "../../../lib/chain/checksum-address.ts";
import type { PostgresPool } from "../../../lib/postgres/postgres-pool.ts";
import { restoredAtSql } from "../../../lib/postgres/restore-mark.ts";
import { onlyRow, type Row, readBoolean, readHex, readText, readTime } from "../../../lib/postgres/row.ts";
import { transaction } from "../../../lib/postgres/transaction.ts";
import { bytesOf } from "../../read/columns.ts";
import { lockWallet } from "../orders/order-store.ts";
import { createSessionToken, hashSessionToken } from "./session-token.ts";

export type WalletSession = {
  /** By which a list names it. It opens nothing. */
  id: string;
  /** EIP-55. */
  wallet: string;
  createdAt: Date;
  expiresAt: Date;
  /** What the browser or program called itself; may be empty. */
  userAgent: string;
};

export type SessionStore = ReturnType<typeof createSessionStore>;

const columns = "id, wallet, created_at, expires_at, user_agent";
/** Rows that one statement removes: it holds nobody up. */
const removedAtOnceMax = 1000;

/**
 * Sessions in PostgreSQL, the one place where they are: a session that was ended anywhere has ended for every process with
 * its next request. A look-up is one row by its primary key.
 */
export function createSessionStore({
  db,
  settings,
  now,
}: {
  db: PostgresPool;
  /** Read for each session: one that is open keeps its end. */
  settings: { readonly lifetimeSeconds: number; readonly perWalletMax: number };
  now: () => number;
}) {
  return {
    /** Opens a session, and ends a wallet's oldest where it would have more than `perWalletMax`. */
    async open({
      wallet,
      userAgent,
    }: {
      wallet: string;
      userAgent: string;
    }): Promise<{ token: string; session: WalletSession }> {
      const token = createSessionToken();
      const createdAt = new Date(now());
      const expiresAt = new Date(createdAt.getTime() + settings.lifetimeSeconds * 1000);
      const id = randomUUID();
      const session = await transaction(db, async (client) => {
        const owner = bytesOf(wallet);
        // Who signs in twice at once is counted one after the other.
        await lockWallet(client, wallet);
        const { rows } = await client.query(
          `insert into svc.sessions (token_hash, id, wallet, created_at, expires_at, user_agent)
          values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
          [hashSessionToken(token), id, owner, createdAt, expiresAt, userAgent],
        );
        await client.query(
          `delete from svc.sessions where wallet = $1 and (expires_at <= $2 or id not in (
            select id from svc.sessions where wallet = $1 and expires_at > $2
            order by id = $3 desc, created_at desc, id desc limit $4))`,
          [owner, createdAt, id, settings.perWalletMax],
        );
        return toSession(onlyRow(rows));
      });
      return { token, session };
    },

    async find(token: string): Promise<WalletSession | undefined> {
      const { rows } = await db.query({
        name: "find-session",
        // After a restore one that has ended since would be good again: all of before wait for their end.
        text: `select ${columns} from svc.sessions where token_hash = $1 and expires_at > $2
          and created_at >= coalesce(${restoredAtSql}, '-infinity')`,
        values: [hashSessionToken(token), new Date(now())],
      });
      const [row] = rows;
      return row === undefined ? undefined : toSession(row);
    },

    /** A wallet's sessions, newest first: at most `perWalletMax`. */
    async list(wallet: string): Promise<WalletSession[]> {
      const { rows } = await db.query(
        `select ${columns} from svc.sessions where wallet = $1 and expires_at > $2
        order by created_at desc, id desc limit $3`,
        [bytesOf(wallet), new Date(now()), settings.perWalletMax],
      );
      return rows.map(toSession);
    },

    /** Ends a session of the wallet; says where it is another wallet's, or there is none. */
    async end({ wallet, id }: { wallet: string; id: string }): Promise<"ended" | "another's" | "none"> {
      const owner = bytesOf(wallet);
      const { rows } = await db.query(
        `with ended as (delete from svc.sessions where id = $2 and wallet = $1 and expires_at > $3 returning 1)
        select exists (select from ended) as ended,
          exists (select from svc.sessions where id = $2 and wallet <> $1 and expires_at > $3) as others`,
        [owner, id, new Date(now())],
      );
      const row = onlyRow(rows);
      if (readBoolean(row, "ended")) return "ended";
      return readBoolean(row, "others") ? "another's" : "none";
    },

    /** Ends all of a wallet's sessions but one. */
    async endOthers({ wallet, id }: { wallet: string; id: string }): Promise<number> {
      const { rowCount } = await db.query(
        "delete from svc.sessions where wallet = $1 and id <> $2 and expires_at > $3",
        [bytesOf(wallet), id, new Date(now())],
      );
      return rowCount ?? 0;
    },

    /** Removes rows of sessions that have run out, at most a thousand. */
    async removeExpired(): Promise<{ hasMore: boolean }> {
      const { rowCount } = await db.query(
        `delete from svc.sessions where token_hash = any(array(
          select token_hash from svc.sessions where expires_at <= $1
          order by expires_at limit $2 for update skip locked))`,
        [new Date(now()), removedAtOnceMax],
      );
      return { hasMore: rowCount === removedAtOnceMax };
    },
  };
}

function toSession(row: Row): WalletSession {
  return {
    id: readText(row, "id"),
    wallet: checksumAddress(readHex(row, "wallet")),
    createdAt: readTime(row, "created_at"),
    expiresAt: readTime(row, "expires_at"),
    userAgent: readText(row, "user_agent"),
  };
}
