/** Codes that every program of Tollgate ends with. */
export const exitCodes = {
  done: 0,
  failed: 1,
  /** A command line, a configuration or a file that cannot be used: nothing was begun. */
  unusable: 2,
  /** Ended early by Ctrl-C, as shells have it. */
  interrupted: 130,
} as const;
