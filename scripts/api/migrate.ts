import { pino } from "pino";
import { migrationsFolder } from "../../api/postgres/migrations-folder.ts";
import { json } from "../../lib/cli/format.ts";
import { dueMigrations, migrate } from "../../lib/postgres/migrate.ts";
import { exitCodes } from "../../lib/service/exit-codes.ts";
import type { ApiCommand } from "./command.ts";

export const migrateCommand: ApiCommand = {
  name: "migrate",
  positionals: [],
  summary: "Brings PostgreSQL's schema up to date; with --check it tells what is due.",
  details: [
    "The API does the same when it starts. Each migration is one transaction; of several processes one does it. A migration",
    "that was carried out and has been altered since is refused.",
  ],
  options: { check: { text: "changes nothing; exit code 1 where something is due" } },
  examples: ["migrate --check", "migrate"],
  async run({ postgresUrl: url, values, json: asJson, print, note }) {
    const silent = pino({ level: "silent" });
    if (values["check"] === true) {
      const due = await dueMigrations({ url, folder: migrationsFolder, logger: silent });
      if (asJson) print(json({ due }));
      else print(due.length === 0 ? "Nothing is due." : `Due: ${due.join(", ")}.`);
      return due.length === 0 ? exitCodes.done : exitCodes.failed;
    }
    const logger = {
      info: (what: unknown) => typeof what === "string" && note(what),
      warn: () => {},
    };
    const migrated = await migrate({ url, folder: migrationsFolder, logger });
    if (asJson) print(json({ migrated }));
    else print(migrated.length === 0 ? "Nothing was due." : `Carried out: ${migrated.join(", ")}.`);
    return exitCodes.done;
  },
};
