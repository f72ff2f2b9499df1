import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** How soon connections follow each other. */
export const paces = ["at once", "in turn"] as const;
export type Pace = (typeof paces)[number];

const answerMs = 30_000;

/**
 * Opens so many connections, asks once on each, and keeps them open until all have their answers.
 * @returns how many each of the workers has got.
 */
export async function openConnections({
  port,
  count,
  pace,
  workers,
}: {
  port: number;
  count: number;
  pace: Pace;
  workers: number;
}): Promise<number[]> {
  const counts = Array.from({ length: workers }, () => 0);
  const sockets: Socket[] = [];
  const one = async () => {
    const socket = connect({ host: "127.0.0.1", port });
    sockets.push(socket);
    const worker = await askWho(socket);
    counts[worker - 1] = (counts[worker - 1] ?? 0) + 1;
  };
  try {
    if (pace === "at once") await Promise.all(Array.from({ length: count }, one));
    else for (let index = 0; index < count; index += 1) await one();
    return counts;
  } finally {
    await Promise.all(sockets.map((socket) => close(socket)));
  }
}

function askWho(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setTimeout(answerMs, () => socket.destroy(new Error("no worker has answered")));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a connection ended without an answer")));
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      const worker = /\r\n\r\n(\d+)$/.exec(text)?.[1];
      if (worker !== undefined) resolve(Number(worker));
    });
    socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  });
}

async function close(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, "close");
  // A reset leaves no connection that waits for its end and takes a port of the next run.
  socket.resetAndDestroy();
  await closed;
}
