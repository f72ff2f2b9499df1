export type Rounds = ReturnType<typeof createRounds>;

/** Does `work` again and again, never twice at once. It must not reject; its signal is aborted when nothing more is wanted. */
export function createRounds({
  work,
  everyMs,
}: {
  work: (signal: AbortSignal) => Promise<void>;
  everyMs: number;
}) {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> | undefined;

  return {
    start() {
      timer ??= setInterval(() => {
        underway ??= work(stopping.signal).finally(() => {
          underway = undefined;
        });
      }, everyMs).unref();
    },
    /** Resolves when nothing is under way any more. */
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await underway;
    },
  };
}
