/** What this program itself used, to see whether it limited the run. */
export type SelfUse = {
  seconds: number;
  /** Seconds in which the event loop had no time left. */
  busySeconds: number;
  /** The event loop's busiest second, 0 to 1. */
  eventLoopBusyMax: number;
  /** Processors used on average, and in the busiest second. */
  cpuCoresMean: number;
  cpuCoresMax: number;
};

/** Above this share, due requests have to wait for the event loop. */
export const busyShare = 0.9;

export type UsageSource = {
  /** Cumulative milliseconds in which the event loop worked and in which it waited. */
  eventLoop(): { activeMs: number; idleMs: number };
  /** Cumulative milliseconds of processor time of this process. */
  cpuMs(): number;
};

export const processUsage: UsageSource = {
  eventLoop() {
    const { active, idle } = performance.eventLoopUtilization();
    return { activeMs: active, idleMs: idle };
  },
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Looks once a second from its creation on. */
export function watchSelf({
  source,
  now,
  every,
}: {
  source: UsageSource;
  now: () => number;
  every: (intervalMs: number, callback: () => void) => () => void;
}): { stop(): SelfUse } {
  const began = { atMs: now(), cpuMs: source.cpuMs() };
  let last = { ...began, eventLoop: source.eventLoop() };
  const use: SelfUse = { seconds: 0, busySeconds: 0, eventLoopBusyMax: 0, cpuCoresMean: 0, cpuCoresMax: 0 };

  const look = () => {
    const next = { atMs: now(), cpuMs: source.cpuMs(), eventLoop: source.eventLoop() };
    const activeMs = next.eventLoop.activeMs - last.eventLoop.activeMs;
    const idleMs = next.eventLoop.idleMs - last.eventLoop.idleMs;
    const busy = activeMs + idleMs > 0 ? activeMs / (activeMs + idleMs) : 0;
    const cpuCores = (next.cpuMs - last.cpuMs) / (next.atMs - last.atMs);
    last = next;
    use.seconds += 1;
    if (busy > busyShare) use.busySeconds += 1;
    use.eventLoopBusyMax = Math.max(use.eventLoopBusyMax, busy);
    use.cpuCoresMax = Math.max(use.cpuCoresMax, cpuCores);
  };
  const stopTimer = every(1000, look);
  return {
    stop() {
      stopTimer();
      const lengthMs = now() - began.atMs;
      return { ...use, cpuCoresMean: lengthMs > 0 ? (source.cpuMs() - began.cpuMs) / lengthMs : 0 };
    },
  };
}
