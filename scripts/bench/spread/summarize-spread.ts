/** How the connections of several runs were shared, in parts of an even share: 1 is as many as each should have. */
export type Spread = {
  /** The least and the most that a worker had, means over the runs, and in the worst run. */
  least: number;
  most: number;
  leastEver: number;
  mostEver: number;
  /** Standard deviation over the workers of a run, the mean over the runs. */
  deviation: number;
};

/** @param runs how many connections each worker had, run by run. */
export function summarizeSpread(runs: readonly (readonly number[])[]): Spread {
  const parts = runs.map((counts) => {
    const even = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    return counts.map((count) => count / even);
  });
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const lowest = parts.map((run) => Math.min(...run));
  const highest = parts.map((run) => Math.max(...run));
  return {
    least: mean(lowest),
    most: mean(highest),
    leastEver: Math.min(...lowest),
    mostEver: Math.max(...highest),
    deviation: mean(parts.map((run) => Math.sqrt(mean(run.map((part) => (part - 1) ** 2))))),
  };
}
