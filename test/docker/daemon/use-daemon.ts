import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** A keeper's one line: where the daemon is, or why it does not run. */
export type KeeperAnswer = z.output<typeof answerSchema>;
const answerSchema = z.union([
  z.object({ host: z.string() }),
  z.object({ failed: z.string(), byMachine: z.boolean() }),
]);

const keeper = fileURLToPath(new URL("keeper.ts", import.meta.url));
const retryMs = 100;
const triesMax = 1200;

/**
 * The docker daemon of a data root, which all tests that run at the same time share: it is started for the first of them and
 * stopped behind the last. Two daemons on one data root would wait for each other's locks.
 */
export async function useDaemon(
  dataRoot: string,
  { program = keeper }: { program?: string } = {},
): Promise<{ host: string; release: () => Promise<void> } | { failed: string; byMachine: boolean }> {
  const address = keeperAddress(dataRoot);
  let begun: ChildProcess | undefined;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { socket, answer } = await ask(address);
    if (answer !== undefined) {
      const release = () => leave(socket);
      if ("host" in answer) return { host: answer.host, release };
      await release();
      return answer;
    }
    // Nobody is there, or one that is about to end.
    if (socket === undefined && (begun === undefined || begun.exitCode !== null)) {
      const args = ["--disable-warning=ExperimentalWarning", program, dataRoot];
      begun = spawn(process.execPath, args, { detached: true, stdio: "ignore" });
      begun.unref();
    }
    await sleep(retryMs);
  }
  return { failed: `no keeper of ${dataRoot} answers`, byMachine: false };
}

/** An abstract address (unix(7)): it is free again whenever its process ends, however that comes. */
export function keeperAddress(dataRoot: string): string {
  return `\0tollgate-docker-${createHash("sha256").update(dataRoot).digest("hex").slice(0, 24)}`;
}

async function ask(
  address: string,
): Promise<{ socket: Socket; answer?: KeeperAnswer } | { socket?: undefined; answer?: undefined }> {
  const socket = connect(address);
  try {
    await once(socket, "connect");
  } catch {
    return {};
  }
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const closed = new AbortController();
  socket.on("error", () => {}).once("close", () => closed.abort());
  while (!text.includes("\n") && !closed.signal.aborted) {
    await once(socket, "data", { signal: closed.signal }).catch(() => {});
  }
  return text.includes("\n") ? { socket, answer: answerSchema.parse(JSON.parse(text)) } : { socket };
}

/** Resolves when the keeper has closed it too: where it was the last one, the daemon has ended. */
async function leave(socket: Socket): Promise<void> {
  if (socket.closed) return;
  const closed = once(socket, "close");
  socket.end();
  await closed;
}
