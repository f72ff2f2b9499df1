import type { Logger } from "pino";
import type { Task } from "./messages.ts";
import type { WorkerEnd, WorkerProcess, WorkerStart } from "./worker-process.ts";

export type Slot = { name: string; role: Task["role"] };

/** A place for one process, which is filled again when the process ends. */
type Place = Slot & {
  current: WorkerProcess | undefined;
  /** Its replacement, before that serves. */
  next: WorkerProcess | undefined;
  deaths: number;
  /** Ends in a row without a minute of service between them. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
};

export type Supervisor = ReturnType<typeof createSupervisor>;

/** The first replacement starts at once, and those of one that ends again and again at most so often. */
const retryMs = { first: 0, min: 200, max: 10_000 };
/** How long the clients of a worker that is replaced have to close their connections: more than one may be idle (10 s). */
const idleMs = 15_000;
/** After so long a process has proved that it can serve. */
const soundAfterMs = 60_000;

/** Keeps one process in each place: starts them, replaces those that end unasked, replaces all of them one after the other. */
export function createSupervisor({
  slots,
  spawn,
  stopWithinMs,
  onServing,
  onTookOver = () => {},
  onEnded,
  logger,
  now = Date.now,
  retry = retryMs,
}: {
  slots: readonly Slot[];
  spawn: (slot: Slot) => WorkerProcess;
  /** How long a process has to end what it does. */
  stopWithinMs: () => number;
  /** Called when a process begins to serve. */
  onServing: (worker: WorkerProcess, start: WorkerStart & { settings: unknown }) => void;
  /** Called when a process has taken the place of one that serves. */
  onTookOver?: (worker: WorkerProcess) => void;
  onEnded: (worker: WorkerProcess, end: WorkerEnd) => void;
  logger: Pick<Logger, "info" | "warn" | "error">;
  now?: () => number;
  retry?: typeof retryMs;
}) {
  const places: Place[] = slots.map((slot) => ({
    ...slot,
    current: undefined,
    next: undefined,
    deaths: 0,
    failures: 0,
    timer: undefined,
  }));
  const all = new Set<WorkerProcess>();
  let stopping = false;

  function begin(place: Place): WorkerProcess {
    const worker = spawn({ name: place.name, role: place.role });
    all.add(worker);
    void worker.started.then((start) => {
      if ("settings" in start) onServing(worker, start);
    });
    void worker.ended.then((end) => {
      all.delete(worker);
      onEnded(worker, end);
      if (place.current === worker) lost(place, worker, end);
    });
    return worker;
  }

  function lost(place: Place, worker: WorkerProcess, end: WorkerEnd): void {
    place.current = undefined;
    if (stopping) return;
    place.deaths += 1;
    const servedMs = now() - worker.startedAtMs;
    place.failures = servedMs >= soundAfterMs ? 0 : place.failures + 1;
    const delayMs =
      place.failures <= 1 ? retry.first : Math.min(retry.min * 2 ** (place.failures - 2), retry.max);
    const { code, signal } = end;
    const facts = { worker: place.name, pid: worker.pid, code, signal, servedMs, againInMs: delayMs };
    logger.error(facts, `${place.name} has ended unasked and is replaced`);
    // Its replacement is on its way already.
    if (place.next !== undefined) return;
    place.timer = setTimeout(() => fill(place), delayMs);
  }

  function fill(place: Place): void {
    if (stopping || place.current !== undefined || place.next !== undefined) return;
    const worker = begin(place);
    place.current = worker;
    void worker.started.then((start) => {
      if ("problems" in start)
        logger.error({ worker: place.name, problems: start.problems }, "it could not start");
      else logger.info({ worker: place.name, pid: worker.pid }, `${place.name} serves again`);
    });
  }

  /** Starts another process beside the one in this place, which stops once the new one serves. */
  async function replace(place: Place): Promise<readonly string[]> {
    const next = begin(place);
    place.next = next;
    const start = await next.started;
    place.next = undefined;
    if ("problems" in start) {
      // The old one may have ended meanwhile, and waited for this one.
      if (place.current === undefined) lost(place, next, await next.ended);
      return start.problems;
    }
    const old = place.current;
    place.current = next;
    place.failures = 0;
    clearTimeout(place.timer);
    onTookOver(next);
    logger.info({ worker: place.name, pid: next.pid, oldPid: old?.pid }, `${place.name} is replaced`);
    await old?.stop({ withinMs: stopWithinMs() + idleMs, idleMs });
    return [];
  }

  return {
    /** Starts all at once. Resolves with why one could not start; then the others are stopped. */
    async start(): Promise<readonly string[]> {
      const starts = await Promise.all(
        places.map((place) => {
          const worker = begin(place);
          place.current = worker;
          // Whoever cannot start the first time is not tried again: it is the configuration, or the machine.
          void worker.started.then((start) => {
            if ("problems" in start) stopping = true;
          });
          return worker.started;
        }),
      );
      return [...new Set(starts.flatMap((start) => ("problems" in start ? start.problems : [])))];
    },

    /**
     * Replaces them one after the other. Where a replacement cannot start, the rest goes on as it is, and `problems` say why.
     */
    async replaceAll(onReplaced: (done: number) => void): Promise<readonly string[]> {
      for (const [index, place] of places.entries()) {
        if (stopping) return ["the process stops"];
        const problems = await replace(place);
        if (problems.length > 0) return problems;
        onReplaced(index + 1);
      }
      return [];
    },

    /** Those that serve, without those that are on their way out. */
    serving: (role: Task["role"] = "worker"): WorkerProcess[] =>
      places.flatMap(({ role: placed, current }) =>
        placed === role && current?.state() === "serving" ? [current] : [],
      ),
    /** Whether it is on its way in, beside another one that still serves. */
    isWaiting: (worker: WorkerProcess): boolean => places.some(({ next }) => next === worker),
    /** Every process that runs. */
    all: (): WorkerProcess[] => [...all],
    places: () =>
      places.map(({ name, role, current, deaths }) => ({
        name,
        role,
        deaths,
        pid: current?.pid ?? null,
        state: current?.state() ?? "ended",
        startedAt: current === undefined ? null : new Date(current.startedAtMs).toISOString(),
      })),

    async stop(): Promise<void> {
      stopping = true;
      for (const place of places) clearTimeout(place.timer);
      const withinMs = stopWithinMs();
      // The side process last: the workers' last calls still need it.
      for (const role of ["worker", "side"] as const) {
        await Promise.all(
          [...all]
            .filter((worker) => worker.role === role)
            .map((worker) => worker.stop({ withinMs, idleMs: 0 })),
        );
      }
    },
  };
}
