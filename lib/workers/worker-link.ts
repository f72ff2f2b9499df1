import process from "node:process";
import { beatMs, type FromWorker, readToWorker, type Task, type ToWorker, workerMark } from "./messages.ts";

type Parts = Readonly<Record<string, unknown>>;

/** A worker's end of the channel to its primary. */
export type WorkerLink = {
  task: Task;
  /** Answers what the primary asks for by this name. */
  answer(what: string, answer: (value: unknown) => unknown): void;
  say(message: FromWorker): void;
  /** Called in a later turn with what the side process told last, if it has, and then with each that it tells. */
  onParts(listener: (parts: Parts) => void): void;
  onTold(listener: (value: unknown) => void): void;
  /** Resolves when the primary wants this process to stop, or has ended. */
  stopped: Promise<WorkerStop>;
  /** Lets the process end: nothing is heard any more. */
  close(): void;
};

/** Why a worker stops, and how long its connections may stay open because another one has taken its place. */
export type WorkerStop = { why: "asked" | "the primary has ended"; idleMs: number };

/** Whether a primary has started this process. */
export function isWorker(): boolean {
  return process.env[workerMark] !== undefined && process.send !== undefined;
}

/** Waits for what the primary says first. Undefined where it ends before. */
export async function openWorkerLink(): Promise<WorkerLink | undefined> {
  const begun = Promise.withResolvers<Task | undefined>();
  const stopped = Promise.withResolvers<WorkerStop>();
  const answers = new Map<string, (value: unknown) => unknown>();
  const waiting: Parts[] = [];
  let onParts: ((parts: Parts) => void) | undefined;
  let onTold: (value: unknown) => void = () => {};

  function say(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }

  async function answer({ id, what, value }: ToWorker & { kind: "ask" }): Promise<void> {
    try {
      const found = answers.get(what);
      if (found === undefined) throw new Error(`it knows no answer to "${what}" yet`);
      say({ kind: "answer", id, value: await found(value) });
    } catch (error) {
      say({ kind: "no answer", id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  function hear(raw: unknown): void {
    const message = readToWorker(raw);
    if (message?.kind === "begin") begun.resolve(message.task);
    else if (message?.kind === "ask") void answer(message);
    else if (message?.kind === "parts") {
      if (onParts === undefined) waiting.push(message.parts);
      else onParts(message.parts);
    } else if (message?.kind === "told") onTold(message.value);
    else if (message?.kind === "stop") stopped.resolve({ why: "asked", idleMs: message.idleMs });
  }

  process.on("message", hear);
  process.once("disconnect", () => {
    begun.resolve(undefined);
    stopped.resolve({ why: "the primary has ended", idleMs: 0 });
  });
  // The terminal sends them to all processes at once, and the primary decides what they mean. SIGTERM is for one process.
  for (const signal of ["SIGINT", "SIGHUP", "SIGUSR2"] as const) process.on(signal, () => {});
  process.once("SIGTERM", () => stopped.resolve({ why: "asked", idleMs: 0 }));
  const beating = setInterval(() => say({ kind: "beat" }), beatMs);
  say({ kind: "beat" });

  const task = await begun.promise;
  if (task === undefined) return undefined;
  if (Object.keys(task.parts).length > 0) waiting.unshift(task.parts);
  return {
    task,
    answer: (what, give) => void answers.set(what, give),
    say,
    onParts(listener) {
      setImmediate(() => {
        for (const parts of waiting.splice(0)) listener(parts);
        onParts = listener;
      });
    },
    onTold(listener) {
      onTold = listener;
    },
    stopped: stopped.promise,
    close() {
      clearInterval(beating);
      process.off("message", hear);
      if (process.connected) process.disconnect();
    },
  };
}
