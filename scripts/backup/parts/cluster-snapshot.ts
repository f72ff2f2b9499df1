import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CommandError } from "../../../lib/cli/command.ts";
import { slotsCount } from "../../../lib/redis/hash-slot.ts";
import type { RedisAddress } from "../../../lib/redis/redis-address.ts";
import { type RedisNode, readClusterNodes, readRedisSnapshot } from "./redis-snapshot.ts";

/** `REDIS0011`: the format and its version. */
const headerBytes = 9;
/** The last code (255) and a checksum of eight bytes. Zeros say that there is none: age and the manifest hold what was written. */
const end = Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 0]);

/**
 * The snapshots of all masters of a cluster as a single one with all keys: a single Redis starts on it, or a first node that then gives slots
 * away. One master after the other, each of its own moment. A key's slot has to stay meanwhile, else it might be in two of them or in none.
 *
 * @throws CommandError where slots are being moved or nobody has them. The stream fails where that becomes so.
 */
export async function readClusterSnapshot(
  { nodes, ...access }: Extract<RedisAddress, { kind: "cluster" }>,
  name: string,
  onSnapshot: (stream: Readable) => Promise<Readable>,
): Promise<Readable> {
  const ask = async (node: { host: string; port: number }) =>
    readMasters(await readClusterNodes({ ...node, ...access }, name), name);
  const askFirst = async () => {
    let failure: unknown;
    for (const node of nodes) {
      try {
        return await ask(node);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
  const askNodes = async () => {
    const masters = await askFirst();
    // Which slots it is about to give or get a node tells of itself alone.
    for (const master of masters) await ask(master);
    return masters;
  };
  const masters = await askNodes();

  async function* merged(): AsyncGenerator<Buffer> {
    let header: Buffer | undefined;
    for (const { host, port } of masters) {
      const node: RedisNode = { host, port, ...access };
      let held = Buffer.alloc(0);
      let isBegun = false;
      for await (const piece of await onSnapshot(await readRedisSnapshot(node, name))) {
        held = Buffer.concat([held, piece]);
        if (!isBegun) {
          if (held.length < headerBytes) continue;
          const own = held.subarray(0, headerBytes);
          if (header !== undefined && !own.equals(header))
            throw new CommandError(`${name}: its masters are of different versions.`, { exitCode: 1 });
          if (header !== undefined) held = held.subarray(headerBytes);
          header ??= Buffer.from(own);
          isBegun = true;
        }
        if (held.length <= end.length) continue;
        yield held.subarray(0, held.length - end.length);
        held = held.subarray(held.length - end.length);
      }
      if (held[0] !== end[0])
        throw new CommandError(`${name}: a snapshot of ${host}:${port} does not end as one.`, {
          exitCode: 1,
        });
    }
    yield end;
    if (slotsOf(await askNodes()) !== slotsOf(masters))
      throw new CommandError(`${name}: slots were moved meanwhile. Take the backup again.`, { exitCode: 1 });
  }

  const source = new PassThrough();
  pipeline(Readable.from(merged(), { objectMode: false }), source).catch((error: unknown) =>
    source.destroy(error instanceof Error ? error : undefined),
  );
  source.on("error", () => {});
  return source;
}

type Master = { host: string; port: number; slots: string };

/** Those that have slots. https://redis.io/docs/latest/commands/cluster-nodes/ */
export function readMasters(text: string, name: string): readonly Master[] {
  const masters: Master[] = [];
  let count = 0;
  for (const line of text.split("\n")) {
    const [, address = "", flags = "", , , , , , ...slots] = line.trim().split(" ");
    if (!flags.split(",").includes("master") || slots.length === 0) continue;
    if (slots.some((slot) => slot.startsWith("[")))
      throw new CommandError(`${name}: slots are being moved. Take the backup when they are.`, {
        exitCode: 1,
      });
    const [, host = "", port = ""] = /^(.*):(\d+)(?:@|$)/.exec(address) ?? [];
    masters.push({ host, port: Number(port), slots: slots.join(" ") });
    for (const range of slots) {
      const [first = 0, last = first] = range.split("-").map(Number);
      count += last - first + 1;
    }
  }
  if (count !== slotsCount)
    throw new CommandError(
      `${name}: only ${count} of ${slotsCount} slots have a master. Mend the cluster first.`,
      {
        exitCode: 1,
      },
    );
  return masters;
}

function slotsOf(masters: readonly Master[]): string {
  return masters
    .map(({ host, port, slots }) => `${host}:${port} ${slots}`)
    .sort()
    .join("\n");
}
