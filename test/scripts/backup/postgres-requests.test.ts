import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { requestedBaseBackups } from "../../../scripts/backup/parts/postgres-requests.ts";
import { testFolder } from "../../helpers/test-folder.ts";
import { startArchivingPostgres, withoutPostgresTools } from "./support/start-archiving-postgres.ts";

/* docker/postgres/base-backups.sh and who asks it: what stands in two containers of the compose file. */

const script = join(import.meta.dirname, "../../../docker/postgres/base-backups.sh");

t.test(
  "copies that are asked for at once do not disturb each other",
  { skip: await withoutPostgresTools() },
  async (t) => {
    const postgres = await startArchivingPostgres(t);
    const { port, password } = new URL(postgres.url);
    const folder = testFolder(t, { password });
    const requests = join(folder, "archive", "requests");
    const ask = requestedBaseBackups({ folder: requests, timeoutMs: 60_000 });
    // Before the other container is there.
    const copies = [ask(join(folder, "one")), ask(join(folder, "two"))];
    const child = spawn("sh", [script], {
      stdio: "ignore",
      env: {
        PATH: `${postgres.tools}:${process.env["PATH"]}`,
        PGPORT: port,
        POSTGRES_PASSWORD_FILE: join(folder, "password"),
        BACKUP_REQUESTS: requests,
      },
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    t.teardown(async () => {
      child.kill();
      await ended;
    });
    await Promise.all(copies);
    for (const name of ["one", "two"]) t.ok(existsSync(join(folder, name, "backup_manifest")), name);
    t.same(readdirSync(requests), [], "nothing is left of them");
    await postgres.stop();
    await t.rejects(
      ask(join(folder, "three")),
      /copy was not taken: pg_basebackup: error: connection to server/,
    );
    t.same(readdirSync(requests), []);
    child.kill();
    await ended;
    const brief = requestedBaseBackups({ folder: requests, timeoutMs: 300 });
    await t.rejects(
      brief(join(folder, "four")),
      /not taken within 0.3 s: does the service postgres-backup run\?/,
    );
    t.same(readdirSync(requests), []);
  },
);
