import { fork } from "node:child_process";
import type { FromWorker, Task, ToWorker } from "./messages.ts";
import { beatMs, readFromWorker, workerMark } from "./messages.ts";

/** How a process ended. `asked`: it was told to. */
export type WorkerEnd = { code: number | null; signal: NodeJS.Signals | null; asked: boolean };

/** How its start ended: what it said of itself, or why there is nothing to wait for. */
export type WorkerStart = { settings: unknown } | { problems: readonly string[] };

export type WorkerProcess = {
  name: string;
  role: Task["role"];
  pid: number | undefined;
  startedAtMs: number;
  state(): "starting" | "serving" | "stopping" | "ended";
  started: Promise<WorkerStart>;
  ended: Promise<WorkerEnd>;
  /** What it told when it was last asked for its metrics, or at its end. */
  lastMetrics(): unknown;
  /** @throws Error where it ends, does not answer in time, or says why it cannot. */
  ask(what: string, value?: unknown): Promise<unknown>;
  send(message: ToWorker): void;
  /** Has it end what it does, with `idleMs` for connections to be closed by their clients, and kills it after `withinMs`. */
  stop(options: { withinMs: number; idleMs: number }): Promise<WorkerEnd>;
  kill(): void;
};

export type WorkerCommand = { program: string; args: readonly string[]; execArgv: readonly string[] };

const askMs = 3000;

/** Starts this program once more as a worker. What it writes goes where the primary's output goes. */
export function startWorkerProcess({
  command,
  env,
  task,
  silentMsMax,
  onMessage,
  now = Date.now,
}: {
  command: WorkerCommand;
  env: Readonly<Record<string, string | undefined>>;
  task: Task;
  /** One whose event loop is silent for so long hangs, and is killed. */
  silentMsMax: number;
  onMessage: (message: FromWorker & { kind: "parts" | "told" }) => void;
  now?: () => number;
}): WorkerProcess {
  const child = fork(command.program, command.args, {
    execArgv: [...command.execArgv],
    env: { ...env, [workerMark]: task.name },
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const asked = new Map<number, { resolve: (value: unknown) => void; reject: (reason: Error) => void }>();
  const started = Promise.withResolvers<WorkerStart>();
  const ended = Promise.withResolvers<WorkerEnd>();
  let state: ReturnType<WorkerProcess["state"]> = "starting";
  let lastId = 0;
  let lastMetrics: unknown;
  let problems: readonly string[] | undefined;
  let hang = setTimeout(() => {}, 0);

  function watch(): void {
    clearTimeout(hang);
    // A program that starts on a busy machine says nothing for a while.
    const patienceMs = state === "starting" ? 2 * silentMsMax : silentMsMax;
    hang = setTimeout(() => child.kill("SIGKILL"), patienceMs).unref();
  }

  function end(how: Omit<WorkerEnd, "asked">, reason: string): void {
    if (state === "ended") return;
    const wasAsked = state === "stopping";
    state = "ended";
    clearTimeout(hang);
    started.resolve({ problems: problems ?? [reason] });
    for (const { reject } of asked.values()) reject(new Error(`${task.name} has ended`));
    asked.clear();
    ended.resolve({ ...how, asked: wasAsked });
  }

  child.on("message", (raw) => {
    const message = readFromWorker(raw);
    watch();
    switch (message?.kind) {
      case "up":
        if (state === "starting") state = "serving";
        started.resolve(message);
        break;
      case "unusable":
        problems = message.problems;
        break;
      case "answer":
        asked.get(message.id)?.resolve(message.value);
        break;
      case "no answer":
        asked.get(message.id)?.reject(new Error(message.reason));
        break;
      case "bye":
        lastMetrics = message.metrics;
        break;
      case "parts":
      case "told":
        onMessage(message);
        break;
    }
  });
  child.on("error", (error) => {
    if (child.pid === undefined) end({ code: null, signal: null }, `it cannot be started: ${error.message}`);
  });
  child.on("exit", (code, signal) => end({ code, signal }, `it ended with ${signal ?? code}`));

  function send(message: ToWorker): void {
    // One that has just ended gets nothing, and says so by its end.
    if (child.connected) child.send(message, () => {});
  }

  watch();
  send({ kind: "begin", task });
  return {
    name: task.name,
    role: task.role,
    pid: child.pid,
    startedAtMs: now(),
    state: () => state,
    started: started.promise,
    ended: ended.promise,
    lastMetrics: () => lastMetrics,
    async ask(what, value) {
      if (state === "ended") throw new Error(`${task.name} has ended`);
      lastId += 1;
      const id = lastId;
      const answer = Promise.withResolvers<unknown>();
      asked.set(id, answer);
      const timer = setTimeout(() => answer.reject(new Error(`${task.name} does not answer`)), askMs);
      send({ kind: "ask", id, what, value });
      try {
        const told = await answer.promise;
        if (what === "metrics") lastMetrics = told;
        return told;
      } finally {
        clearTimeout(timer);
        asked.delete(id);
      }
    },
    send,
    async stop({ withinMs, idleMs }) {
      if (state !== "ended") state = "stopping";
      send({ kind: "stop", idleMs });
      const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
      const how = await ended.promise;
      clearTimeout(timer);
      return how;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** A worker that has not said for so long that its event loop turns is killed and replaced. */
export const silentMsDefault = 30 * beatMs;
