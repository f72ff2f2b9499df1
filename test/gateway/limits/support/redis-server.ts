import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { reservePort } from "../../../../scripts/processes/reserved-port.ts";

export type RedisServer = {
  readonly url: string;
  readonly port: number;
  /** SIGSTOP and SIGCONT: it accepts connections (the kernel does) and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts again on the same port, empty: nothing is stored on disk. */
  start(): Promise<void>;
};

/** A redis-server of the test's own on a free port, without files. The test stops it with `kill`. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await reservePort();
  let child: ChildProcess;

  async function start(): Promise<void> {
    const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout?.setEncoding("utf8");
    let output = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on("data", (text: string) => {
        output += text;
        if (output.includes("Ready to accept connections")) resolve();
      });
      child.once("exit", () => reject(new Error(`redis-server ended: ${output}`)));
    });
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    start,
  };
}
