import { cpuUsage } from "node:process";

const tickMs = 1;

/**
 * Watches how long this process's event loop stands still at most while it computes. A stop counts as no more than what the
 * process took of a processor meanwhile: the rest of it, others had.
 */
export function watchLongestStop(): { endMs(): number } {
  let longestMs = 0;
  let lastMs = performance.now();
  let last = cpuUsage();
  const look = () => {
    const nowMs = performance.now();
    const { user, system } = cpuUsage(last);
    longestMs = Math.max(longestMs, Math.min(nowMs - lastMs, (user + system) / 1000));
    lastMs = nowMs;
    last = cpuUsage();
  };
  const timer = setInterval(look, tickMs);
  return {
    endMs() {
      look();
      clearInterval(timer);
      return longestMs;
    },
  };
}
