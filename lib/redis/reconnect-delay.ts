const reconnectDelayMinMs = 50;

/** Doubles from 50 ms up to the cap; the random half keeps many processes from coming back at the same moment. */
export function reconnectDelayMs(attempt: number, capMs: number): number {
  const delayMs = Math.min(capMs, reconnectDelayMinMs * 2 ** Math.min(attempt - 1, 16));
  return delayMs / 2 + (Math.random() * delayMs) / 2;
}
