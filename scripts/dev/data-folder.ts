import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { processIdentity } from "../processes/process-identity.ts";

/** anvil, or Besu validators. */
export type ChainKind = "anvil" | "besu";

/** A database's data, and the file in which its address is written while it runs. */
export type DatabaseFolder = { folder: string; urlFile: string };

export type DataFolder = {
  readonly redis: DatabaseFolder;
  readonly faucetRedis: DatabaseFolder;
  readonly postgres: DatabaseFolder;
  readonly chain: string;
  /** The key with which the API asks the gateway. */
  readonly apiKeyFile: string;
  /** Remembers a child, so that a later start waits for it where this one was killed. */
  remember(child: { name: string; pid: number }): void;
  /** Releases the folder to the next start. */
  release(): Promise<void>;
};

/**
 * Only our own folders: --reset must not remove anybody else's files in .data. Each kind of chain has its own
 * databases, since their content (claims, genesis hash, blocks) belongs to one chain.
 */
const ownFolders = {
  anvil: { redis: "redis", faucetRedis: "redis-faucet", postgres: "postgres", chain: "anvil", api: "api" },
  besu: {
    redis: "besu/redis",
    faucetRedis: "besu/redis-faucet",
    postgres: "besu/postgres",
    chain: "besu/network",
    api: "besu/api",
  },
} as const;
/** A killed start's children are stopped by the watcher; that long a new start waits for it. */
const orphansWithinMs = 15_000;
const orphansPollMs = 100;

const runningProcess = z.object({ name: z.string(), pid: z.int().positive(), identity: z.string() });
const runningFile = z.object({ owner: runningProcess, children: z.array(runningProcess) });

type Running = z.output<typeof runningFile>;

/**
 * Locks `.data` for one `npm start`: two at once would write into the same databases and chain files. `reset` removes
 * what earlier starts left.
 * @returns the folder, or why it is not available.
 */
export async function openDataFolder({
  folder,
  chain: kind,
  pid,
  reset,
  say,
}: {
  folder: string;
  chain: ChainKind;
  pid: number;
  reset: boolean;
  say: (text: string) => void;
}): Promise<DataFolder | { refused: string }> {
  const file = join(folder, "running.json");
  await mkdir(folder, { recursive: true });
  const refused = await whoRuns({ file, folder, say });
  if (refused !== undefined) return { refused };

  const own = ownFolders[kind];
  const [redis, faucetRedis, postgres, chain, api] = [
    join(folder, own.redis),
    join(folder, own.faucetRedis),
    join(folder, own.postgres),
    join(folder, own.chain),
    join(folder, own.api),
  ];
  const owner = { name: "npm start", pid, identity: (await processIdentity(pid)) ?? "" };
  const running: Running = { owner, children: [] };
  await rm(file, { force: true });
  const taken = await writeFile(file, JSON.stringify(running), { flag: "wx" }).then(
    () => true,
    () => false,
  );
  if (!taken) return { refused: `another npm start has just begun here (${file})` };
  if (reset) {
    await Promise.all(
      [redis, faucetRedis, postgres, chain, api].map((path) => rm(path, { recursive: true, force: true })),
    );
  }
  let written = Promise.resolve();
  const add = async (child: { name: string; pid: number }) => {
    running.children.push({ ...child, identity: (await processIdentity(child.pid)) ?? "" });
    await writeFile(`${file}.new`, JSON.stringify(running));
    await rename(`${file}.new`, file);
  };
  // Command lines look there for either kind of chain.
  const urlFile = join(folder, "redis", "url");
  const faucetUrlFile = join(folder, "redis-faucet", "url");
  const postgresUrlFile = join(folder, "postgres", "url");
  const ofUrls = [urlFile, faucetUrlFile, postgresUrlFile].map(dirname);
  const folders = [redis, faucetRedis, postgres, chain, api, ...ofUrls];
  await Promise.all(folders.map((path) => mkdir(path, { recursive: true })));
  return {
    redis: { folder: redis, urlFile },
    faucetRedis: { folder: faucetRedis, urlFile: faucetUrlFile },
    postgres: { folder: postgres, urlFile: postgresUrlFile },
    chain,
    apiKeyFile: join(api, "gateway-key"),
    remember({ name, pid }) {
      written = written
        .then(() => add({ name, pid }))
        .catch((error: unknown) => say(`${file} could not be written: ${error}`));
    },
    async release() {
      await written;
      await rm(file, { force: true });
    },
  };
}

/** Waits for the children of a killed start. @returns who is in the way, if anybody is. */
async function whoRuns({
  file,
  folder,
  say,
}: {
  file: string;
  folder: string;
  say: (text: string) => void;
}): Promise<string | undefined> {
  const left = await readRunning(file);
  if (left === undefined) return undefined;
  if (await lives(left.owner)) {
    return `npm start is running already with ${folder} (process ${left.owner.pid}): end it with Ctrl-C there, or kill ${left.owner.pid}`;
  }
  const giveUpAt = Date.now() + orphansWithinMs;
  for (let first = true; ; first = false) {
    const alive = await living(left.children);
    if (alive.length === 0) return undefined;
    if (first) say(`Waiting for what an earlier npm start left running: ${namesOf(alive)}.`);
    if (Date.now() > giveUpAt) {
      const pids = alive.map(({ pid }) => pid).join(" ");
      return `an earlier npm start was killed and these still run: ${namesOf(alive)}; end them with: kill ${pids}`;
    }
    await sleep(orphansPollMs);
  }
}

function namesOf(processes: Running["children"]): string {
  return processes.map(({ name, pid }) => `${name} (process ${pid})`).join(", ");
}

async function living(processes: Running["children"]): Promise<Running["children"]> {
  const alive = await Promise.all(processes.map(lives));
  return processes.filter((_process, index) => alive[index]);
}

async function lives({ pid, identity }: Running["owner"]): Promise<boolean> {
  return (await processIdentity(pid)) === identity;
}

/** An unreadable file counts as none: a crash has cut it, and the ports show what still runs. */
async function readRunning(file: string): Promise<Running | undefined> {
  try {
    return runningFile.parse(JSON.parse(await readFile(file, "utf8")));
  } catch {
    return undefined;
  }
}
