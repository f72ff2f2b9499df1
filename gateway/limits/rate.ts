/**
 * At most `perSecondMax` times a second, and as many at once after a quiet second. Two numbers: what asks for it may come
 * a hundred thousand times a second.
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
