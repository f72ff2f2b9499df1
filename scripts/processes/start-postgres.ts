import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { PostgresPrograms } from "./find-postgres.ts";
import { freePort } from "./free-port.ts";
import { type PostgresUser, postgresUsers } from "./postgres-user.ts";
import { type Child, runChild } from "./run-child.ts";

/** `child` ends by a fast shutdown: PostgreSQL's answer to SIGTERM is to wait for its clients. */
export type RunningPostgres = { url: string; port: number; child: Child };

export type PostgresOptions = {
  programs: PostgresPrograms;
  env: Readonly<Record<string, string | undefined>>;
  /** Holds its data and its generated password. */
  folder: string;
  /** Whether commits wait for the disk. Without it, data survives a crash of the process but not of the machine. */
  fsync?: "on" | "off";
  /** More of the server's settings, such as where its log is archived. */
  settings?: Readonly<Record<string, string>>;
  /** The port of an earlier start; by default a free one. */
  port?: number;
  /** The system user that it runs as, where root starts it. */
  users?: readonly PostgresUser[];
  onLine: (line: string) => void;
  /** Called with each process as soon as it runs: those that make the cluster, and the server. */
  onChild?: (child: Child) => void;
};

const startsMax = 5;
const pollMs = 10;
/** After a kill PostgreSQL replays its log first. */
const readyWithinMs = 60_000;
const askTimeoutMs = 2000;
const portTaken = "could not create any TCP/IP sockets";
/** A killed server's processes may still run, or its end may not be reaped yet. */
const leftOvers = /lock file "postmaster.pid" already exists|pre-existing shared memory block/;
const leftOversWithinMs = 15_000;
const leftOversPollMs = 200;
/** Before, a locale is the operating system's. */
const builtinLocalesSince = 17;
const userName = "tollgate";
const databaseName = "tollgate";

/**
 * Starts a PostgreSQL of our own on loopback, with a password and no socket in the file system, and resumes what `folder`
 * holds. Its database `tollgate` is there.
 *
 * @returns the running server, or why it could not be started.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres | { failed: string }> {
  const made = await makeCluster(options);
  if ("failed" in made) return made;
  const giveUpAt = Date.now() + leftOversWithinMs;
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const started = await startOnce({ ...options, ...made, port });
    if ("url" in started) return started;
    const portWasTaken = options.port === undefined && started.failed.includes(portTaken);
    if (portWasTaken && attempt < startsMax) continue;
    if (!leftOvers.test(started.failed) || Date.now() > giveUpAt) return started;
    await sleep(leftOversPollMs);
  }
}

type Cluster = { cluster: string; password: string; user: PostgresUser };

/** The folder gets its name when the cluster is complete, so that an interrupted one is never used. */
async function makeCluster({
  programs,
  env,
  folder,
  fsync = "on",
  users: usable,
  onChild,
}: PostgresOptions): Promise<Cluster | { failed: string }> {
  const [cluster, making, passwordFile] = [
    join(folder, "cluster"),
    join(folder, "cluster.new"),
    join(folder, "password"),
  ];
  const users = usable ?? (await postgresUsers({ cluster }));
  const isMade = await exists(cluster);
  const password = isMade ? await readFile(passwordFile, "utf8") : randomBytes(18).toString("base64url");
  const problems: string[] = [];
  for (const user of users) {
    if (isMade) return { cluster, password, user };
    await rm(making, { recursive: true, force: true });
    await mkdir(making, { recursive: true });
    await user.own(making);
    await writeFile(passwordFile, password, { mode: 0o600 });
    const child = await runAs({
      user,
      name: "initdb",
      program: programs.initdb,
      args: [
        ...clusterArguments({ making, passwordFile, version: programs.version }),
        ...(fsync === "off" ? ["--no-sync"] : []),
      ],
      env,
      onLine: () => {},
    });
    if ("failed" in child) {
      problems.push(child.failed);
      continue;
    }
    onChild?.(child);
    const { code } = await child.ended;
    if (code === 0) {
      await rename(making, cluster);
      return { cluster, password, user };
    }
    problems.push(await child.obituary());
  }
  return { failed: `PostgreSQL's data could not be made in ${folder}:\n${problems.join("\n")}` };
}

function clusterArguments({
  making,
  passwordFile,
  version,
}: {
  making: string;
  passwordFile: string;
  version: number;
}): string[] {
  return [
    ...["--pgdata", making, "--username", userName, "--pwfile", passwordFile, "--auth", "scram-sha-256"],
    // Texts sort alike and messages read alike on every machine.
    ...(version >= builtinLocalesSince
      ? ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
      : ["--encoding", "UTF8", "--locale", "C.UTF-8"]),
  ];
}

async function startOnce({
  programs,
  env,
  fsync = "on",
  settings = {},
  port,
  onLine,
  onChild,
  cluster,
  password,
  user,
}: PostgresOptions & Cluster & { port: number }): Promise<RunningPostgres | { failed: string }> {
  const started = await runAs({
    user,
    name: "postgres",
    program: programs.postgres,
    args: serverArguments({ cluster, port, fsync, more: settings }),
    env,
    onLine,
  });
  if ("failed" in started) return started;
  const child = endedFast(started);
  onChild?.(child);
  // What answers to the password is ours: another server may have taken the port between our looking and our child's asking.
  const url = (database: string) => `postgres://${userName}:${password}@127.0.0.1:${port}/${database}`;
  const giveUpAt = Date.now() + readyWithinMs;
  while (child.running() && Date.now() < giveUpAt) {
    if ("version" in (await askPostgres(url("postgres")))) {
      await ensureDatabase(url("postgres"));
      return { url: url(databaseName), port, child };
    }
    await sleep(pollMs);
  }
  await child.stop({ withinMs: 1000 });
  return { failed: `PostgreSQL did not start: ${await child.obituary()}` };
}

function serverArguments({
  cluster,
  port,
  fsync,
  more,
}: {
  cluster: string;
  port: number;
  fsync: "on" | "off";
  more: Readonly<Record<string, string>>;
}): string[] {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    fsync,
    full_page_writes: fsync,
    // The client gets a statement's error; the log need not repeat it.
    log_min_messages: "fatal",
    ...more,
  };
  return ["-D", cluster, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/** The server's own facts, or why it does not answer. */
export async function askPostgres(url: string): Promise<{ version: string } | { failed: string }> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: askTimeoutMs });
  // The rejected promise says the same.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query("show server_version");
    return { version: String(rows[0]?.server_version) };
  } catch (error) {
    if (error instanceof AggregateError) return { failed: error.errors.map(String).join("; ") };
    return { failed: error instanceof Error ? error.message : String(error) };
  } finally {
    await client.end().catch(() => {});
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: askTimeoutMs });
  client.on("error", () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_database where datname = $1", [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}

/** SIGINT is PostgreSQL's fast shutdown; the SIGTERM after it changes nothing. */
function endedFast(child: Child): Child {
  return {
    ...child,
    stop(options) {
      try {
        if (child.running()) process.kill(child.pid, "SIGINT");
      } catch {
        // ESRCH: the process has just ended.
      }
      return child.stop(options);
    },
  };
}

function runAs({
  user,
  program,
  args,
  env,
  ...rest
}: {
  user: PostgresUser;
  name: string;
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  onLine: (line: string) => void;
}) {
  const [first = program, ...others] = [...user.prefix, program, ...args];
  // PGDATA, PGPORT and similar variables would override our settings; so would the terminal's language.
  const own = Object.entries(env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return runChild({ ...rest, program: first, args: others, env: Object.fromEntries(own) });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
