/** A validator as it can be reached. */
export type NetworkNode = {
  /** `validator-1` */
  name: string;
  /** The account by which it proposes and seals; lower case. */
  address: string;
  rpcUrl: string;
};

/**
 * How a network's nodes are run: as processes of this machine (native/), or as containers. The commands know nothing
 * else of it. Expected failures are values: the text says what to do.
 */
export type Nodes = {
  list: readonly NetworkNode[];
  /** What stands in the way of starting these, one text each; empty where nothing does. */
  obstacles(names: readonly string[]): Promise<readonly string[]>;
  isRunning(name: string): Promise<boolean>;
  /**
   * Starts these, together as far as that goes: rounds of validators that begin at different times do not meet. Resolves
   * long before they can be asked anything. Where one cannot be started, others may have been.
   */
  start(names: readonly string[]): Promise<{ failed: string } | undefined>;
  /** What ails one that is not up, such as "starts again and again: …"; undefined where nothing more is known. */
  troubleOf?(name: string): Promise<string | undefined>;
  /** Where the runbook goes on for one that does not come up; where it is not about these, nothing. */
  whatToDo?(name: string): string;
  /** Ends one in order, whatever state it is in; one that does not run is left as it is. */
  stop(name: string): Promise<void>;
  /** Removes the chain of one that is stopped; its key stays. */
  wipe(name: string): Promise<void>;
  /** The last lines that it wrote, and with `follow` those to come until `signal` is aborted. */
  logs(options: {
    name: string;
    linesMax: number;
    follow: boolean;
    signal: AbortSignal;
    onLine: (line: string) => void;
  }): Promise<void>;
  /** What runs beside the validators: the trace node, and where they are containers gateway, faucet, Redis. */
  beside?: {
    /** Starts what does not run and resolves when all of it is healthy. */
    up(signal: AbortSignal): Promise<{ failed: string } | undefined>;
    /** Ends it and the validators, first those that need others. */
    down(): Promise<void>;
  };
};
