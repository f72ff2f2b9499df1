import { z } from "zod";

/**
 * What the primary and its workers say to each other, over the channel that a child process is started with. Both ends are
 * this program, perhaps in two versions: while the workers are replaced after an update the primary is still the old one. So
 * a message that one side does not know is left out, and what is in `value` is read by who it is for.
 */

/** What a process is told first: who it is, and what the others know. */
const taskSchema = z.object({
  name: z.string(),
  role: z.enum(["worker", "side"]),
  /** How many workers share the machine. */
  workers: z.number(),
  listener: z.object({ host: z.string(), port: z.number() }),
  /** What the primary goes by, as text: a process whose files say otherwise cannot replace another one. */
  fixed: z.record(z.string(), z.string()),
  /** The settings of the workers that run already; undefined: it reads its files. */
  settings: z.unknown(),
  /** The service starts: what its command line asks to be done once is still to do. A primary of before says nothing of it. */
  isFirst: z.boolean().default(false),
  /** What the side process has told last. */
  parts: z.record(z.string(), z.unknown()),
});
export type Task = z.output<typeof taskSchema>;

const toWorkerSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("begin"), task: taskSchema }),
  z.object({ kind: z.literal("ask"), id: z.number(), what: z.string(), value: z.unknown() }),
  z.object({ kind: z.literal("parts"), parts: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal("told"), value: z.unknown() }),
  /** `idleMs`: another process serves in its place already, so connections may stay open for that long. */
  z.object({ kind: z.literal("stop"), idleMs: z.number() }),
]);
export type ToWorker = z.output<typeof toWorkerSchema>;

const fromWorkerSchema = z.discriminatedUnion("kind", [
  /** It serves. `settings` are those that it runs with. */
  z.object({ kind: z.literal("up"), settings: z.unknown() }),
  /** It cannot start. */
  z.object({ kind: z.literal("unusable"), problems: z.array(z.string()) }),
  z.object({ kind: z.literal("answer"), id: z.number(), value: z.unknown() }),
  z.object({ kind: z.literal("no answer"), id: z.number(), reason: z.string() }),
  /** For all workers, now and later. */
  z.object({ kind: z.literal("parts"), parts: z.record(z.string(), z.unknown()) }),
  /** For the side process. */
  z.object({ kind: z.literal("told"), value: z.unknown() }),
  /** Its event loop turns. */
  z.object({ kind: z.literal("beat") }),
  /** The last thing that it says. */
  z.object({ kind: z.literal("bye"), metrics: z.unknown() }),
]);
export type FromWorker = z.output<typeof fromWorkerSchema>;

export function readToWorker(message: unknown): ToWorker | undefined {
  return toWorkerSchema.safeParse(message).data;
}

export function readFromWorker(message: unknown): FromWorker | undefined {
  return fromWorkerSchema.safeParse(message).data;
}

/** Set in the environment of a process that a primary has started. */
export const workerMark = "TOLLGATE_WORKER";

/** How often a worker says that its event loop turns. */
export const beatMs = 1000;
