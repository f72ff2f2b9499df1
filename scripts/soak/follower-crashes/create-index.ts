import { pino } from "pino";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../../lib/postgres/postgres-connection.ts";

const logger = pino({ level: "silent" });
const migrations = new URL("../../../api/postgres/migrations/", import.meta.url);

/** A database with the API's tables, on a server of its own. @returns its URL. */
export async function createIndex(serverUrl: string, name: string): Promise<string> {
  const admin = await connectPostgres({ url: serverUrl, name: "soak", logger });
  try {
    await admin.query(`create database ${name}`);
  } finally {
    await admin.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate({ url: url.href, folder: migrations, logger });
  return url.href;
}
