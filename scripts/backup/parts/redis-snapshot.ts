import { once } from "node:events";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { CommandError } from "../../../lib/cli/command.ts";
import type { RedisTls } from "../../../lib/redis/redis-tls.ts";

/** What a snapshot says of itself at its beginning. */
export type SnapshotFacts = { server: string; keys: number };

const connectWithinMs = 5_000;
/** While the server writes its snapshot it sends an empty line every few seconds. */
const silenceMaxMs = 60_000;
const lineBytesMax = 1_024;
/** Auxiliary fields and the counts stand before the first key. */
const headBytesMax = 65_536;

/** A server to connect to. */
export type RedisNode = {
  host: string;
  port: number;
  username: string | undefined;
  password: string | undefined;
  tls: RedisTls | undefined;
};

/**
 * A snapshot (RDB) of a Redis or Valkey of one moment, as a stream, the way a replica gets its first copy and `redis-cli --rdb`
 * works: over the network, without a file of the server's. Its user needs `+sync +replconf` and no key.
 *
 * @throws CommandError where the server cannot be asked. The stream fails where it ends early.
 */
export async function readRedisSnapshot(node: RedisNode, name: string): Promise<Readable> {
  return await connected({ node, name }, async ({ ask, reader }) => {
    // The master keeps no buffer for what would follow the snapshot. Servers before 7 do not know it.
    await ask("replconf", "rdb-only", "1");
    let answer = await ask("sync");
    // Empty lines keep the connection alive while the server forks and writes.
    while (answer === "") answer = await reader.line();
    refuse(name, answer);
    const bytes = /^\$(\d+)$/.exec(answer)?.[1];
    if (bytes === undefined)
      throw new CommandError(`${name} answered SYNC with something else than a snapshot.`, { exitCode: 1 });
    return Readable.from(reader.bytes(Number(bytes), name), { objectMode: false });
  });
}

/** What a node of a cluster knows of all nodes: `CLUSTER NODES`. @throws CommandError where it cannot be asked. */
export async function readClusterNodes(node: RedisNode, name: string): Promise<string> {
  return await connected({ node, name }, async ({ ask, reader, socket }) => {
    const answer = await ask("cluster", "nodes");
    refuse(name, answer);
    const bytes = /^\$(\d{1,7})$/.exec(answer)?.[1];
    if (bytes === undefined) throw new CommandError(`${name} is no cluster.`, { exitCode: 1 });
    const pieces: Buffer[] = [];
    for await (const piece of reader.bytes(Number(bytes), name)) pieces.push(piece);
    socket.destroy();
    return Buffer.concat(pieces).toString();
  });
}

type Connection = {
  socket: Socket;
  reader: ReturnType<typeof createReader>;
  ask: (...words: string[]) => Promise<string>;
};

async function connected<Result>(
  { node, name }: { node: RedisNode; name: string },
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const socket = await open(node, name);
  const reader = createReader(socket);
  const ask = async (...words: string[]) => {
    socket.write(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`,
    );
    return await reader.line();
  };
  try {
    const given = [node.username, node.password].filter((word) => word !== undefined);
    if (given.length > 0) refuse(name, await ask("auth", ...given));
    return await use({ socket, reader, ask });
  } catch (error) {
    socket.destroy();
    throw error instanceof CommandError
      ? error
      : new CommandError(
          `${name} gave no snapshot: ${error instanceof Error ? error.message : String(error)}.`,
          { exitCode: 1 },
        );
  }
}

async function open({ host, port, tls }: RedisNode, name: string): Promise<Socket> {
  const to = { host, port, timeout: connectWithinMs };
  const socket = tls === undefined ? connectTcp(to) : connectTls({ ...to, ...tls, ...serverName(host) });
  const late = setTimeout(() => socket.destroy(new Error("it does not answer")), connectWithinMs);
  try {
    await once(socket, tls === undefined ? "connect" : "secureConnect");
  } catch (error) {
    throw new CommandError(
      `${name} at ${tls === undefined ? "redis" : "rediss"}://${host}:${port} cannot be reached (${error instanceof Error ? error.message : error}).`,
      { exitCode: 1 },
    );
  } finally {
    clearTimeout(late);
  }
  socket.setTimeout(silenceMaxMs, () =>
    socket.destroy(new Error(`it was silent for ${silenceMaxMs / 1000} s`)),
  );
  return socket;
}

/** TLS asks for a server by its name, and never by an address. */
function serverName(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

function refuse(name: string, answer: string): void {
  if (!answer.startsWith("-")) return;
  const words = answer.slice(1);
  const what = /^(NOAUTH|WRONGPASS|NOPERM)/.test(words)
    ? " Its address needs a user who may SYNC, and that user's password."
    : "";
  throw new CommandError(`${name} refuses: ${words}.${what}`, { exitCode: 1 });
}

function createReader(socket: Socket) {
  const pieces = socket[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  async function more(): Promise<boolean> {
    const next = await pieces.next();
    if (next.done) return false;
    held = Buffer.concat([held, next.value]);
    return true;
  }
  return {
    async line(): Promise<string> {
      for (;;) {
        const end = held.indexOf("\n");
        if (end !== -1) {
          const line = held.subarray(0, end).toString().replace(/\r$/, "");
          held = held.subarray(end + 1);
          return line;
        }
        if (held.length > lineBytesMax) throw new Error("its answer is no Redis's");
        if (!(await more())) throw new Error("it closed the connection");
      }
    },
    async *bytes(total: number, name: string): AsyncGenerator<Buffer> {
      let left = total;
      try {
        while (left > 0) {
          if (held.length === 0 && !(await more()))
            throw new Error(`${name}: the snapshot ended ${left} bytes early`);
          const piece = held.subarray(0, left);
          held = held.subarray(piece.length);
          left -= piece.length;
          yield piece;
        }
      } finally {
        socket.destroy();
      }
    },
  };
}

/**
 * Which server wrote a snapshot, and how many keys it holds, expired ones that nobody has looked at among them; undefined where
 * the bytes are no beginning of one. https://rdb.fnordig.de/file_format.html
 */
export function snapshotFacts(head: Buffer): SnapshotFacts | undefined {
  if (!/^(REDIS|VALKEY)\d{3,4}$/.test(head.subarray(0, 9).toString("latin1"))) return undefined;
  const bytes = head.subarray(0, headBytesMax);
  let at = 9;
  let server = "unknown";
  try {
    for (;;) {
      const code = bytes.readUInt8(at);
      at += 1;
      if (code === 0xfa) {
        const [name, value] = [text(), text()];
        if (name === "redis-ver") server = `redis ${value}`;
        if (name === "valkey-ver") server = `valkey ${value}`;
      } else if (code === 0xfe) number();
      else if (code === 0xfb) return { server, keys: number() };
      else return { server, keys: 0 };
    }
  } catch {
    return undefined;
  }

  function number(): number {
    const first = bytes.readUInt8(at);
    const kind = first >> 6;
    at += 1;
    if (kind === 0) return first & 63;
    if (kind === 1) {
      at += 1;
      return ((first & 63) << 8) | bytes.readUInt8(at - 1);
    }
    const wide = first === 0x81;
    at += wide ? 8 : 4;
    return wide ? Number(bytes.readBigUInt64BE(at - 8)) : bytes.readUInt32BE(at - 4);
  }

  function text(): string {
    const first = bytes.readUInt8(at);
    if (first >> 6 === 3) {
      const width = { 192: 1, 193: 2, 194: 4 }[first];
      if (width === undefined) throw new Error("compressed");
      at += 1 + width;
      return String(bytes.readIntLE(at - width, width));
    }
    const length = number();
    at += length;
    if (at > bytes.length) throw new RangeError("cut off");
    return bytes.subarray(at - length, at).toString();
  }
}
