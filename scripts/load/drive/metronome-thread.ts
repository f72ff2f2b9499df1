import { parentPort, workerData } from "node:worker_threads";
import { createMemory, state } from "./metronome-memory.ts";

/** Waits until the time that the main thread asks for, notifies it, and waits for the next time. */
const memory = createMemory(workerData);

for (;;) {
  Atomics.wait(memory.state, 0, state.idle);
  if (Atomics.load(memory.state, 0) === state.ended) break;
  const waitMs = (memory.wakeAtMs[0] ?? 0) - (performance.timeOrigin + performance.now());
  if (waitMs > 0) Atomics.wait(memory.state, 0, state.armed, waitMs);
  if (Atomics.compareExchange(memory.state, 0, state.armed, state.idle) === state.armed) {
    parentPort?.postMessage(0);
  }
}
