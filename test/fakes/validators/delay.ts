import { setTimeout as sleep } from "node:timers/promises";

/** A wait that a test process may end in: what was slow when its validator died keeps nobody from exiting. */
export function delay(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}
