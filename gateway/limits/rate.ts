/**
 * Allows `perSecondMax` a second, and as many at once after a quiet second. It holds two numbers only, because it may be
 * asked a hundred thousand times a second.
 */
export function createRate({
  perSecondMax,
  monotonicMs,
}: {
  perSecondMax: number;
  monotonicMs: () => number;
}): { take(): boolean } {
  let left = perSecondMax;
  let countedAtMs = monotonicMs();

  return {
    take() {
      const nowMs = monotonicMs();
      left = Math.min(perSecondMax, left + ((nowMs - countedAtMs) / 1000) * perSecondMax);
      countedAtMs = nowMs;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
