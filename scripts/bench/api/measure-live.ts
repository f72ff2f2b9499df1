import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../soak/follower-crashes/until.ts";
import { cpuSeconds } from "../gateway/process-usage.ts";
import type { Server } from "./start-server.ts";

export type LiveResult = { clients: number; allAfterMs: number[]; cpuMsPerBlock: number };

const blockCount = 10;
const blockMs = 500;
const connectAtOnce = 50;
/** An address may have 1 000 at most; all of 127.0.0.0/8 is this machine on Linux. */
const clientsPerAddress = 500;

/**
 * Lets clients listen to `/api/v1/live` while blocks come, and measures for each block when the last client had it.
 * @throws Error where a client has not had each block exactly once.
 */
export async function measureLive({
  server: { url, pid },
  clients: count,
  mine,
}: {
  server: Server;
  clients: number;
  mine: () => Promise<number>;
}): Promise<LiveResult> {
  const { port } = new URL(url);
  const seen = new Map<number, number>();
  const sockets: Socket[] = [];
  let listening = 0;
  const idPattern = /^id: (\d+)\./gm;

  async function listen(): Promise<void> {
    const localAddress = `127.0.0.${1 + Math.floor(sockets.length / clientsPerAddress)}`;
    const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress });
    sockets.push(socket);
    await once(socket, "connect");
    let isListening = false;
    // The server writes an event in one piece, so loopback never splits one.
    socket.setEncoding("latin1").on("data", (text: string) => {
      if (!isListening && text.includes("retry:")) {
        isListening = true;
        listening += 1;
      }
      for (const [, number] of text.matchAll(idPattern)) {
        seen.set(Number(number), (seen.get(Number(number)) ?? 0) + 1);
      }
    });
    socket.write("GET /api/v1/live HTTP/1.1\r\nHost: bench\r\n\r\n");
  }

  try {
    for (let at = 0; at < count; at += connectAtOnce) {
      await Promise.all(Array.from({ length: Math.min(connectAtOnce, count - at) }, listen));
    }
    await until("all listen", () => listening === count);
    const allAfterMs: number[] = [];
    const before = cpuSeconds([pid]);
    for (let block = 0; block < blockCount; block += 1) {
      const number = await mine();
      const minedMs = performance.now();
      await until("all have the block", () => seen.get(number) === count, { everyMs: 1, withinMs: 10_000 });
      allAfterMs.push(performance.now() - minedMs);
      await sleep(blockMs);
      if (seen.get(number) !== count) throw new Error(`block ${number} was told of more than once`);
    }
    const cpuMsPerBlock = (1000 * (cpuSeconds([pid]) - before)) / blockCount;
    return { clients: count, allAfterMs: allAfterMs.toSorted((one, other) => one - other), cpuMsPerBlock };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}
