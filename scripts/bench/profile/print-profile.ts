import type { ProfileResult } from "./run-profile.ts";

const functionsShown = 40;

/** Prints the time by module, then by the functions with the most own time, in microseconds per request. */
export function printProfile({ work, requests, seconds, cpuSeconds, times }: ProfileResult): string {
  const busyUs = times.totalUs - times.idleUs;
  const row = (us: number) =>
    `${(us / requests).toFixed(2).padStart(7)} µs  ${((us / busyUs) * 100).toFixed(1).padStart(5)} %`;
  const byModule = new Map<string, number>();
  for (const { module, us } of times.functions) byModule.set(module, (byModule.get(module) ?? 0) + us);
  const modules = [...byModule].sort(([, one], [, other]) => other - one);
  return [
    `${work}: ${Math.round(requests / seconds)} requests/s with the profiler on; ` +
      `${Math.round((times.idleUs / times.totalUs) * 100)} % idle`,
    `sampled ${(busyUs / requests).toFixed(1)} µs a request, used ${((cpuSeconds * 1e6) / requests).toFixed(1)} µs of CPU ` +
      "(the collector's own threads among it; sampled more than used: others had the core meanwhile)",
    "",
    "A request's time by module:",
    ...modules.map(([module, us]) => `  ${row(us)}  ${module}`),
    "",
    "By function, what it calls left out:",
    ...times.functions
      .slice(0, functionsShown)
      .map(({ name, place, us }) => `  ${row(us)}  ${name}${place === "" ? "" : `  ${place}`}`),
  ].join("\n");
}
