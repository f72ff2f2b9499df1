export type Turns = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Runs one thing at a time, in the order asked for. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}
