import { createSocket } from "node:dgram";
import { z } from "zod";
import type { Teardown } from "../../../../../scripts/processes/teardown.ts";

const typeA = 1;
const typeAaaa = 28;
const headerBytes = 12;

/** A name server that answers what it is told, for any name, and counts who asks. Undefined: it stays silent. */
export async function startDns(t: Teardown) {
  const asked: { name: string; type: "A" | "AAAA" }[] = [];
  let answer: (name: string, type: "A" | "AAAA") => readonly (readonly number[])[] | undefined = () => [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    let at = headerBytes;
    const labels: string[] = [];
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString("ascii", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    if (type !== typeA && type !== typeAaaa) return;
    const kind = type === typeA ? "A" : "AAAA";
    asked.push({ name: labels.join("."), type: kind });
    const records = answer(labels.join("."), kind);
    if (records === undefined) return;
    const question = query.subarray(headerBytes, at + 5);
    const header = Buffer.alloc(headerBytes);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const answers = records.map((bytes) => {
      const fixed = Buffer.alloc(12);
      fixed.writeUInt16BE(0xc00c, 0);
      fixed.writeUInt16BE(type, 2);
      fixed.writeUInt16BE(1, 4);
      fixed.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([fixed, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([header, question, ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.teardown(() => socket.close());
  const { port } = z.object({ port: z.number() }).parse(socket.address());
  return {
    asked,
    server: `127.0.0.1:${port}`,
    answers(next: typeof answer): void {
      answer = next;
    },
  };
}
