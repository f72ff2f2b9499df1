import process from "node:process";
import type { firstStopSignal } from "./stop-signals.ts";

/**
 * SIGHUP asks a process to read its configuration again. To one that writes to a terminal it says that the terminal is gone:
 * that one stops. What comes before `hear` is kept: the file may have changed since the start has read it.
 */
export function onReloadSignal(stopSignal: typeof firstStopSignal) {
  if (process.stdout.isTTY) {
    return { signalled: stopSignal(["SIGTERM", "SIGINT", "SIGHUP"]), hear: () => {} };
  }
  let wasAsked = false;
  let listener = () => {
    wasAsked = true;
  };
  process.on("SIGHUP", () => listener());
  return {
    signalled: stopSignal(),
    hear(heard: () => void): void {
      listener = heard;
      if (wasAsked) heard();
    },
  };
}
