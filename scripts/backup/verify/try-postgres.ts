import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { postgresUsers } from "../../processes/postgres-user.ts";
import { runChild } from "../../processes/run-child.ts";
import { askFacts, majorVersion, type PostgresFacts } from "../parts/postgres.ts";
import { findPostgresTools } from "../parts/postgres-tools.ts";

const recoveredWithinMs = 3_600_000;
const pollMs = 100;
const stopWithinMs = 60_000;

/**
 * Starts PostgreSQL on what was restored, reachable by a socket in a folder of our own alone, lets it recover, and compares what merchants
 * bought and were paid with what there was when the backup was taken.
 */
export async function tryPostgres({
  facts,
  folder,
  scratch,
  tools: toolsFolder,
  env,
}: {
  facts: PostgresFacts;
  folder: string;
  /** A folder that nobody else may enter. */
  scratch: string;
  tools: string;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<{ found: string; problem: string | undefined }> {
  const version = majorVersion(facts.serverVersion);
  const tools = await findPostgresTools({ version, folder: toolsFolder, path: env["PATH"] });
  const [socket, hba] = [join(scratch, "socket"), join(scratch, "pg_hba.conf")];
  await mkdir(socket, { mode: 0o700 });
  await writeFile(hba, "local all all trust\n");
  await chmod(folder, 0o700);
  const [user] = await postgresUsers({ cluster: folder });
  if (user === undefined) throw new Error("nobody can run PostgreSQL");
  const settings = {
    ...{ listen_addresses: "", unix_socket_directories: socket, hba_file: hba, port: "5432" },
    // Its log must not get into the archive of the server that it is a copy of.
    ...{ archive_mode: "off", fsync: "off", log_min_messages: "fatal", shared_buffers: "64MB" },
  };
  const [first = "", ...rest] = [
    ...user.prefix,
    tools.program("postgres"),
    "-D",
    folder,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const child = await runChild({
    name: "postgres",
    program: first,
    args: rest,
    env: { PATH: env["PATH"] },
    onLine: () => {},
  });
  if ("failed" in child) return { found: "", problem: child.failed };
  try {
    const url = `postgres://tollgate@localhost/tollgate?host=${encodeURIComponent(socket)}`;
    const giveUpAt = Date.now() + recoveredWithinMs;
    for (;;) {
      const there = await askFacts(url).catch(() => undefined);
      if (there !== undefined) return compare({ facts, there });
      if (!child.running()) return { found: "", problem: `it does not start: ${await child.obituary()}` };
      if (Date.now() > giveUpAt)
        return { found: "", problem: `it has not recovered within ${recoveredWithinMs / 60_000} min` };
      await sleep(pollMs);
    }
  } finally {
    if (child.running()) process.kill(child.pid, "SIGINT");
    await child.stop({ withinMs: stopWithinMs });
    await rm(socket, { recursive: true, force: true });
  }
}

function compare({ facts, there }: { facts: PostgresFacts; there: Awaited<ReturnType<typeof askFacts>> }): {
  found: string;
  problem: string | undefined;
} {
  const problems = [
    there.systemIdentifier === facts.systemIdentifier ? [] : ["it is another server's"],
    there.migration === facts.migration
      ? []
      : [`its last migration is ${there.migration} instead of ${facts.migration}`],
    // What was booked while the copy was taken is in it, too.
    there.payments >= facts.payments ? [] : [`${facts.payments - there.payments} payments are missing`],
    there.orders >= facts.orders ? [] : [`${facts.orders - there.orders} orders are missing`],
    BigInt(there.paidWei) >= BigInt(facts.paidWei) ? [] : ["the sum of its payments is too low"],
  ].flat();
  const found = `${there.orders} orders, ${there.payments} payments, ${there.paidWei} wei paid, ${there.migrations} migrations`;
  return { found, problem: problems.length === 0 ? undefined : problems.join("; ") };
}
