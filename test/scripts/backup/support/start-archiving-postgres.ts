import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PostgresUser, postgresUsers } from "../../../../scripts/processes/postgres-user.ts";
import { type RunningPostgres, startPostgres } from "../../../../scripts/processes/start-postgres.ts";
import type { Teardown } from "../../../../scripts/processes/teardown.ts";
import { startParentWatch } from "../../../../scripts/processes/watch-parent.ts";
import { findWholePostgres, howToGetPostgres } from "../../../helpers/whole-postgres.ts";

const archiveCommand = fileURLToPath(new URL("../../../../docker/postgres/archive-wal.sh", import.meta.url));
const stopWithinMs = 30_000;

/** Why tests of PostgreSQL's backups cannot run here; false where they can, and on CI, where they have to. */
export async function withoutPostgresTools(): Promise<false | string> {
  if (process.env["CI"] !== undefined || (await findWholePostgres()) !== undefined) return false;
  return `PostgreSQL's own programs are not installed: Debian's package postgresql, or ${howToGetPostgres}`;
}

export type ArchivingPostgres = {
  url: string;
  /** Holds `cluster`, its data, and `password`. */
  folder: string;
  spool: string;
  tools: string;
  stop(): Promise<void>;
  kill(): Promise<void>;
};

/** A PostgreSQL on loopback that puts its log into a spool, as the one of docker/compose.yaml does; on `folder`, or on a new one. */
export async function startArchivingPostgres(
  t: Teardown,
  { folder: given, settings = {} }: { folder?: string; settings?: Readonly<Record<string, string>> } = {},
): Promise<ArchivingPostgres> {
  const programs = await findWholePostgres();
  if (programs === undefined)
    throw new Error(`PostgreSQL's own programs are not installed: ${howToGetPostgres}`);
  const folder = given ?? (await mkdtemp(join(tmpdir(), "tollgate-archiving-")));
  const spool = join(folder, "spool");
  await mkdir(spool, { recursive: true });
  // One of its own folder, so that what is archived can be read here whoever runs the server.
  const users: readonly PostgresUser[] = await postgresUsers({ cluster: folder });
  const watch = await startParentWatch();
  const started = await startPostgres({
    programs,
    env: { ...process.env, WAL_SPOOL: spool },
    folder,
    fsync: "off",
    users,
    settings: {
      archive_mode: "on",
      archive_command: `sh ${archiveCommand} %p %f`,
      log_min_messages: "warning",
      ...settings,
    },
    onLine: () => {},
    onChild: ({ pid }) => watch.remember(pid),
  });
  if ("failed" in started) throw new Error(started.failed);
  const { child, url }: RunningPostgres = started;
  const kill = async () => {
    child.kill();
    await child.ended;
    watch.forget(child.pid);
  };
  t.teardown(async () => {
    await kill();
    await watch.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url,
    folder,
    spool,
    tools: programs.tools,
    kill,
    stop: async () => void (await child.stop({ withinMs: stopWithinMs })),
  };
}
