import process from "node:process";

type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The first signal that asks the process to stop. A second one ends the process at once, as if nobody listened. */
export function firstStopSignal(signals: readonly StopSignal[] = ["SIGTERM", "SIGINT"]): Promise<StopSignal> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(signal));
  });
}

/**
 * Aborts at the first signal that asks the process to stop. More of them change nothing: Ctrl-C comes twice, from the
 * terminal and passed on by npm.
 */
export function abortOnStopSignal(signals: readonly StopSignal[] = ["SIGTERM", "SIGINT"]): AbortSignal {
  const stopping = new AbortController();
  for (const signal of signals) process.on(signal, () => stopping.abort());
  return stopping.signal;
}
