import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "../../../lib/cli/command.ts";
import { keyHistoryToText } from "../../../lib/keys/key-history.ts";
import { keyLostKey } from "../../../lib/redis/keys/api-keys.ts";
import { readRedisAddress } from "../../../lib/redis/redis-address.ts";
import { readClusterSnapshot } from "./cluster-snapshot.ts";
import { readRedisSnapshot, type SnapshotFacts, snapshotFacts } from "./redis-snapshot.ts";

const headBytes = 65_536;

/** A Redis's snapshot as it comes, and what it says of itself. */
export async function packRedis({
  url,
  name,
}: {
  url: string;
  name: string;
}): Promise<{ source: Readable; facts: SnapshotFacts }> {
  const address = readRedisAddress(url);
  if ("expected" in address) throw new CommandError(`${name}: ${address.expected}.`, { exitCode: 2 });
  if (address.kind === "single") {
    const { hostname, port, username, password } = new URL(address.url);
    const given = (text: string) => (text === "" ? undefined : decodeURIComponent(text));
    const node = {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || 6379),
      username: given(username),
      password: given(password),
      tls: address.tls,
    };
    return await withFacts(await readRedisSnapshot(node, name), name);
  }
  // What the cluster holds is known when all of it was read.
  const facts: SnapshotFacts = { server: "unknown", keys: 0 };
  const source = await readClusterSnapshot(address, name, async (snapshot) => {
    const one = await withFacts(snapshot, name);
    facts.server = one.facts.server;
    facts.keys += one.facts.keys;
    return one.source;
  });
  return { source, facts };
}

async function withFacts(
  snapshot: Readable,
  name: string,
): Promise<{ source: Readable; facts: SnapshotFacts }> {
  const head = await readHead(snapshot, name);
  const facts = snapshotFacts(head.bytes);
  if (facts === undefined) {
    head.source.destroy();
    throw new CommandError(`${name} sent something that is no snapshot.`, { exitCode: 1 });
  }
  return { source: head.source, facts };
}

/** The first bytes, and a stream that begins with them. */
async function readHead(stream: Readable, name: string): Promise<{ bytes: Buffer; source: Readable }> {
  const source = new PassThrough();
  const pieces: Buffer[] = [];
  let length = 0;
  const seen = new Promise<Buffer>((resolve, reject) => {
    stream.once("error", reject);
    stream.once("end", () => resolve(Buffer.concat(pieces)));
    stream.on("data", function look(piece: Buffer) {
      pieces.push(piece);
      length += piece.length;
      if (length < headBytes) return;
      stream.off("data", look);
      resolve(Buffer.concat(pieces));
    });
  });
  // Fails the stream that is read where the server's ends early; whoever reads it learns of it.
  pipeline(stream, source).catch((error: unknown) =>
    source.destroy(error instanceof Error ? error : undefined),
  );
  source.on("error", () => {});
  try {
    return { bytes: await seen, source };
  } catch (error) {
    throw new CommandError(`${name}: ${error instanceof Error ? error.message : error}`, { exitCode: 1 });
  }
}

/** Redis's own names of its append-only file. */
const folderName = "appendonlydir";
const base = "appendonly.aof.1.base.rdb";
const increment = "appendonly.aof.1.incr.aof";
const manifest = "appendonly.aof.manifest";

/**
 * Writes a snapshot as the data of a Redis with `appendonly yes` that has not started yet: such a one would begin empty beside a
 * `dump.rdb`. https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/
 *
 * `lostAtMs`, where it holds API keys: from then on they count as lost until somebody confirms them (`npm run keys -- confirm`). One that
 * was revoked after the backup would be good again otherwise, and no gateway could know.
 */
export async function unpackRedis({
  plain,
  folder,
  lostAtMs,
}: {
  plain: Readable;
  folder: string;
  lostAtMs: number | undefined;
}): Promise<void> {
  const inside = join(folder, folderName);
  await mkdir(inside, { mode: 0o700 });
  await pipeline(plain, createWriteStream(join(inside, base), { flags: "wx", mode: 0o600, flush: true }));
  const lost =
    lostAtMs === undefined ? "" : command("SELECT", "0") + command("SET", keyLostKey, lostText(lostAtMs));
  await writeFile(join(inside, increment), lost, { flag: "wx", mode: 0o600, flush: true });
  const lines = [`file ${base} seq 1 type b`, `file ${increment} seq 1 type i`];
  await writeFile(join(inside, manifest), `${lines.join("\n")}\n`, { flag: "wx", mode: 0o600, flush: true });
}

/** A history later than that of any backup, of nobody knows how many keys: what is found is an earlier state. */
function lostText(lostAtMs: number): string {
  const micros = lostAtMs * 1000;
  return keyHistoryToText({ version: micros, begunAt: micros, keys: 0, isConfirmed: false });
}

function command(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
