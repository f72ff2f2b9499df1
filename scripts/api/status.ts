import { pino } from "pino";
import { readIndexRow } from "../../api/follower/index-row.ts";
import { migrationsFolder } from "../../api/postgres/migrations-folder.ts";
import { count, fields, json } from "../../lib/cli/format.ts";
import { dueMigrations, schemaVersion } from "../../lib/postgres/migrate.ts";
import { connectPostgres } from "../../lib/postgres/postgres-connection.ts";
import { onlyRow, readInteger } from "../../lib/postgres/row.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ApiCommand } from "./command.ts";

export const statusCommand: ApiCommand = {
  name: "status",
  positionals: [],
  summary: "Tells up to which block the index is there, of which chain, and what it takes of the disk.",
  details: ["How far that is behind the chain, a running API tells: /health, and /status on its ops port."],
  options: {},
  examples: ["status --json"],
  async run({ postgresUrl: url, json: asJson, print }) {
    const logger = pino({ level: "silent" });
    const due = await dueMigrations({ url, folder: migrationsFolder, logger });
    const schema = await schemaVersion({ url, logger });
    const connection = await connectPostgres({ url, name: "npm run api", logger, statementTimeoutMs: 5000 });
    try {
      const row = due.length > 0 ? undefined : await readIndexRow(connection);
      const { rows } = await connection.query(
        "select pg_database_size(current_database()) / 1048576 as megabytes",
      );
      const megabytes = readInteger(onlyRow(rows), "megabytes");
      const indexedBlock = row === undefined || row.next === 0 ? null : row.next - 1;
      const epoch = row?.epoch ?? null;
      const genesisHash = row?.genesisHash ?? null;
      if (asJson) print(json({ indexedBlock, epoch, genesisHash, megabytes, schema: schema ?? null, due }));
      else
        print(
          fields([
            ["index", indexedBlock === null ? "empty" : `complete up to block ${count(indexedBlock)}`],
            ["epoch", epoch === null ? "-" : String(epoch)],
            ["genesis", genesisHash ?? "-"],
            ["database", `${count(megabytes)} MB`],
            ["schema", schema === undefined ? "none" : `of version ${schema.version} (${schema.migration})`],
            ["migrations due", due.length === 0 ? "none" : due.join(", ")],
          ]),
        );
      return exitCodes.done;
    } finally {
      await connection.end();
    }
  },
};
