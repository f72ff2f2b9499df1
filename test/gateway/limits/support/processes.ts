import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import type { Counted } from "./start-limiter.ts";

const answer = z.object({
  id: z.number(),
  admitted: z.number().default(0),
  refused: z.number().default(0),
  degraded: z.number().default(0),
});

export type Key = { keyId: string; team: string; limitPerMinute: number };

export type LimiterProcess = {
  /** Single calls, all at once; `nowMs` for an injected clock. */
  atOnce(key: Key, calls: number, nowMs?: number): Promise<Counted>;
  /** Calls one after the other for some time or until one is refused. */
  load(key: Key, options: { forMs: number; progressFile: string }): Promise<Counted>;
  /** kill -9. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts limiters in processes of their own, which share a Redis. */
export function startProcesses(
  count: number,
  settings: { url: string; windowMs?: number; injectedClock?: boolean; wallSkewsMs?: readonly number[] },
): Promise<LimiterProcess[]> {
  const { url, windowMs = 60_000, injectedClock = false, wallSkewsMs = [] } = settings;
  return Promise.all(
    Array.from({ length: count }, (_, place) =>
      startProcess({ url, windowMs, injectedClock, wallSkewMs: wallSkewsMs[place] ?? 0 }),
    ),
  );
}

async function startProcess(settings: object): Promise<LimiterProcess> {
  const child: ChildProcess = fork(
    new URL("limiter-process.ts", import.meta.url),
    [JSON.stringify(settings)],
    { execArgv: ["--disable-warning=ExperimentalWarning"], stdio: ["ignore", "inherit", "inherit", "ipc"] },
  );
  const waiting = new Map<number, PromiseWithResolvers<Counted>>();
  let orders = 0;
  child.on("message", (message) => {
    const { id, ...counted } = answer.parse(message);
    waiting.get(id)?.resolve(counted);
    waiting.delete(id);
  });
  child.once("exit", () => {
    for (const one of waiting.values()) one.reject(new Error("the process ended"));
  });
  await once(child, "message");

  function order(what: object): Promise<Counted> {
    orders += 1;
    const id = orders;
    const answered = Promise.withResolvers<Counted>();
    waiting.set(id, answered);
    child.send({ id, ...what });
    return answered.promise;
  }

  return {
    atOnce: (key, calls, nowMs = 0) => order({ do: "atOnce", ...key, calls, nowMs }),
    load: (key, options) => order({ do: "load", ...key, ...options }),
    async kill() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      await order({ do: "stop" });
      await ended;
    },
  };
}
