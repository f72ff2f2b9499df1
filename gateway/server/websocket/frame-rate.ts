/** Counts the frames of one socket. False for one too many within the second that began with the first. */
export function createFrameRate({
  perSecondMax,
  nowMs,
}: {
  perSecondMax: number;
  nowMs: () => number;
}): () => boolean {
  let count = 0;
  let endsAtMs = 0;
  return () => {
    const now = nowMs();
    if (now >= endsAtMs) {
      endsAtMs = now + 1000;
      count = 0;
    }
    count += 1;
    return count <= perSecondMax;
  };
}
