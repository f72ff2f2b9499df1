export type LoadGate = {
  /** Waits its turn, first come first served. What comes back is to be called in the end. */
  enter(load: number): Promise<() => void>;
};

/**
 * Lets in what keeps `processors` busy and no more: a test that waits most of its time counts as little as it takes. One is
 * always let in, however much it takes.
 *
 * @param filesMax those that do nothing but wait take memory.
 */
export function createLoadGate({ processors, filesMax }: { processors: number; filesMax: number }): LoadGate {
  const waiting: { load: number; letIn: () => void }[] = [];
  const running: number[] = [];
  const admit = () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const taken = running.reduce((sum, load) => sum + load, 0);
      const fits = taken + next.load <= processors && running.length < filesMax;
      if (!fits && running.length > 0) return;
      waiting.shift();
      running.push(next.load);
      next.letIn();
    }
  };
  return {
    async enter(load) {
      await new Promise<void>((resolve) => {
        waiting.push({ load, letIn: resolve });
        admit();
      });
      return () => {
        running.splice(running.indexOf(load), 1);
        admit();
      };
    },
  };
}
