import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { CommandError } from "../../../lib/cli/command.ts";

/** What a snapshot says of itself at its beginning. */
export type SnapshotFacts = { server: string; keys: number };

const connectWithinMs = 5_000;
/** While the server writes its snapshot it sends an empty line every few seconds. */
const silenceMaxMs = 60_000;
const lineBytesMax = 1_024;
/** Auxiliary fields and the counts stand before the first key. */
const headBytesMax = 65_536;

/**
 * A snapshot (RDB) of a Redis or Valkey of one moment, as a stream, the way a replica gets its first copy and `redis-cli --rdb`
 * works: over the network, without a file of the server's. Its user needs `+sync +replconf +ping` and no key.
 *
 * @throws CommandError where the server cannot be asked. The stream fails where it ends early.
 */
export async function readRedisSnapshot({ url, name }: { url: string; name: string }): Promise<Readable> {
  const socket = await open(url, name);
  const reader = createReader(socket);
  const ask = async (...words: string[]) => {
    socket.write(
      `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`,
    );
    return await reader.line();
  };
  try {
    const { username, password } = new URL(url);
    const given = [username, password].map(decodeURIComponent).filter((word) => word !== "");
    if (given.length > 0) refuse(name, await ask("AUTH", ...given));
    // The master keeps no buffer for what would follow the snapshot. Servers before 7 do not know it.
    await ask("REPLCONF", "rdb-only", "1");
    let answer = await ask("SYNC");
    // Empty lines keep the connection alive while the server forks and writes.
    while (answer === "") answer = await reader.line();
    refuse(name, answer);
    const bytes = /^\$(\d+)$/.exec(answer)?.[1];
    if (bytes === undefined)
      throw new CommandError(`${name} answered SYNC with something else than a snapshot.`, { exitCode: 1 });
    return Readable.from(reader.bytes(Number(bytes), name), { objectMode: false });
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

async function open(url: string, name: string): Promise<Socket> {
  const { protocol, hostname, port } = new URL(url);
  const to = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 6379), timeout: connectWithinMs };
  const socket = protocol === "rediss:" ? connectTls({ ...to, servername: to.host }) : connectTcp(to);
  const late = setTimeout(() => socket.destroy(new Error("it does not answer")), connectWithinMs);
  try {
    await once(socket, protocol === "rediss:" ? "secureConnect" : "connect");
  } catch (error) {
    throw new CommandError(
      `${name} at ${protocol}//${to.host}:${to.port} cannot be reached (${error instanceof Error ? error.message : error}).`,
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
