/** The memory that the main thread and the metronome's thread share: 4 bytes of state, 4 unused, 8 for the time to wake. */
export const memoryBytes = 16;

export const state = { idle: 0, armed: 1, ended: 2 } as const;

export function createMemory(buffer: SharedArrayBuffer) {
  return {
    state: new Int32Array(buffer, 0, 1),
    /** Milliseconds since 1970, because each thread's `performance.now` begins at its own start. */
    wakeAtMs: new Float64Array(buffer, 8, 1),
  };
}
