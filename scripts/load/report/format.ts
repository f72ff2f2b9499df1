/** `0.85 ms`, `12.3 ms`, `450 ms`, `1.25 s`: three significant digits. */
export function milliseconds(lengthMs: number): string {
  if (lengthMs === 0) return "0 ms";
  if (lengthMs >= 10_000) return `${(lengthMs / 1000).toFixed(1)} s`;
  if (lengthMs >= 1000) return `${(lengthMs / 1000).toFixed(2)} s`;
  if (lengthMs >= 100) return `${lengthMs.toFixed(0)} ms`;
  return `${lengthMs.toFixed(lengthMs >= 10 ? 1 : 2)} ms`;
}

/** `12,345` */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `498/s`, `0.5/s` */
export function rate(perSecond: number): string {
  return `${perSecond >= 100 ? count(perSecond) : String(Number(perSecond.toFixed(1)))}/s`;
}

/** `0.12 %` of 0.0012. A value above 0 never shows as 0. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  return `${Number((share * 100).toFixed(2))} %`;
}

export function seconds(lengthMs: number): string {
  return `${Number((lengthMs / 1000).toFixed(1))} s`;
}
