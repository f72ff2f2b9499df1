import { connect } from "node:net";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { coreKey } from "./gateway.ts";

export type RawFrame = { opcode: number; payload: Buffer; isFinal: boolean };

export type FrameOptions = {
  opcode?: number;
  isFinal?: boolean;
  isMasked?: boolean;
  /** The three reserved bits. */
  reserved?: number;
};

export type RawWebSocket = {
  /** The answer's head to the upgrade, and what came behind it if it was refused. */
  status: number;
  head: string;
  send(payload: string | Uint8Array, options?: FrameOptions): void;
  sendBytes(bytes: Uint8Array): void;
  /** The next frame; rejects where none comes in time or the connection closes before. */
  next(): Promise<RawFrame>;
  /** The next message, whose parts are joined. */
  nextMessage(): Promise<Buffer>;
  /** Resolves to the code of the close frame, or to undefined where the connection ended without one. */
  closed: Promise<{ code: number; reason: string } | undefined>;
  /** Reads nothing more, so that the gateway's bytes wait. */
  pause(): void;
  resume(): void;
  end(): void;
};

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const waitMs = 5000;
const mask = Buffer.from([0x11, 0x22, 0x33, 0x44]);

/** A WebSocket written byte by byte, for what no client library would send. `headers` replace or take away lines. */
export async function openRawWebSocket(
  t: Teardown,
  port: number,
  {
    headers = {},
    target = "/",
  }: { headers?: Readonly<Record<string, string | undefined>>; target?: string } = {},
): Promise<RawWebSocket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  t.teardown(() => socket.destroy());
  let received = Buffer.alloc(0);
  let isGone = false;
  let wake = () => {};
  const frames: RawFrame[] = [];
  let closeFrame: { code: number; reason: string } | undefined;
  let head: string | undefined;
  const closed = new Promise<typeof closeFrame>((resolve) => {
    socket.on("close", () => {
      isGone = true;
      wake();
      resolve(closeFrame);
    });
  });
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (head === undefined) {
      const end = received.indexOf("\r\n\r\n");
      if (end === -1) return;
      head = received.subarray(0, end).toString("latin1");
      received = received.subarray(end + 4);
    }
    if (head.startsWith("HTTP/1.1 101")) takeFrames();
    wake();
  });

  function takeFrames(): void {
    for (let frame = readFrame(received); frame !== undefined; frame = readFrame(received)) {
      received = received.subarray(frame.length);
      frames.push(frame);
      if (frame.opcode === opcodes.close && frame.payload.length >= 2) {
        closeFrame = { code: frame.payload.readUInt16BE(0), reason: frame.payload.subarray(2).toString() };
      }
    }
  }

  async function until(isThere: () => boolean): Promise<void> {
    const endsAtMs = performance.now() + waitMs;
    while (!isThere()) {
      if (isGone) throw new Error("the connection was closed");
      if (performance.now() > endsAtMs) throw new Error("nothing came in time");
      await new Promise<void>((resolve) => {
        // Bytes wake it; the time is for a connection from which none come.
        const timer = setTimeout(resolve, 100);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  socket.write(upgradeRequest(target, headers));
  await until(() => head !== undefined);

  async function next(): Promise<RawFrame> {
    await until(() => frames.length > 0);
    const frame = frames.shift();
    if (frame === undefined) throw new Error("no frame");
    return frame;
  }

  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head ?? "")?.[1]),
    head: head ?? "",
    send: (payload, options) => void socket.write(writeFrame(Buffer.from(payload), options)),
    sendBytes: (bytes) => void socket.write(bytes),
    next,
    async nextMessage() {
      const parts: Buffer[] = [];
      for (;;) {
        const { payload, isFinal } = await next();
        parts.push(payload);
        if (isFinal) return Buffer.concat(parts);
      }
    },
    closed,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.destroy(),
  };
}

function upgradeRequest(target: string, headers: Readonly<Record<string, string | undefined>>): string {
  const lines = {
    Host: "127.0.0.1",
    Upgrade: "websocket",
    Connection: "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    "X-API-Key": coreKey,
    ...headers,
  };
  const text = Object.entries(lines).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  return `GET ${target} HTTP/1.1\r\n${text.join("\r\n")}\r\n\r\n`;
}

/** RFC 6455 section 5.2. */
export function writeFrame(
  payload: Buffer,
  { opcode = opcodes.text, isFinal = true, isMasked = true, reserved = 0 }: FrameOptions = {},
): Buffer {
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const maskBit = isMasked ? 0x80 : 0;
  const length = payload.length;
  const head =
    length < 126
      ? Buffer.from([first, maskBit | length])
      : length < 65_536
        ? Buffer.from([first, maskBit | 126, length >> 8, length & 0xff])
        : Buffer.from([first, maskBit | 127, 0, 0, 0, 0, ...uint32(length)]);
  if (!isMasked) return Buffer.concat([head, payload]);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}

function uint32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
}

/** A server's frame at the beginning of these bytes, with its whole length; undefined where it has not all come. */
function readFrame(bytes: Buffer): (RawFrame & { length: number }) | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < headBytes) return undefined;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < headBytes + length) return undefined;
  const payload = Buffer.from(bytes.subarray(headBytes, headBytes + length));
  const [first = 0] = bytes;
  return { opcode: first & 0x0f, isFinal: first >= 0x80, payload, length: headBytes + length };
}
