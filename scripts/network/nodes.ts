import type { Services } from "./upgrade/services.ts";

/** A node as it can be reached. */
export type NetworkNode = {
  /** `validator-1` */
  name: string;
  /** The account by which it proposes and seals; lower case. */
  address: string;
  rpcUrl: string;
};

/**
 * Runs a network's nodes: as processes of this machine (native/) or as containers. This is all that the commands know
 * of it. Expected failures are values: their text says what to do.
 */
export type Nodes = {
  list: readonly NetworkNode[];
  /** The node that runs traces, where there is one: it is asked, started and stopped like a validator, and is none. */
  traceNode?: NetworkNode;
  /** Why these cannot start, one text each; empty where they can. */
  obstacles(names: readonly string[]): Promise<readonly string[]>;
  isRunning(name: string): Promise<boolean>;
  /** Changes with each start; undefined while it does not run. */
  identityOf(name: string): Promise<string | undefined>;
  /**
   * Starts these as close together as possible: validators whose rounds begin at different times do not meet. Resolves
   * long before the nodes answer. Where one does not start, others may run.
   */
  start(names: readonly string[]): Promise<{ failed: string } | undefined>;
  /** Why a node is down, such as "starts again and again: …"; undefined where nothing more is known. */
  troubleOf?(name: string): Promise<string | undefined>;
  /** The runbook's chapter for a node that does not start. Absent where the runbook is not about these nodes. */
  whatToDo?(name: string): string;
  /** Stops a node gracefully from any state; a stopped node stays stopped. */
  stop(name: string): Promise<void>;
  /** Removes a stopped node's chain and keeps its key. */
  wipe(name: string): Promise<void>;
  /** Its last lines, and with `follow` its new ones until `signal` is aborted. */
  logs(options: {
    name: string;
    linesMax: number;
    follow: boolean;
    signal: AbortSignal;
    onLine: (line: string) => void;
  }): Promise<void>;
  /** Where a stopped node keeps its chain. Absent where something else runs the nodes. */
  dataOf?(name: string): NodeData;
  besu: BesuVersions;
  /** Our own processes. Absent where they are not containers. */
  services?: Services;
  /** What runs beside the validators: the trace node, and where they are containers gateway, faucet, Redis. */
  beside?: {
    /** Starts what is down and resolves when everything is healthy. */
    up(signal: AbortSignal): Promise<{ failed: string } | undefined>;
    /** Stops it and the validators: dependents first. */
    down(): Promise<void>;
  };
};

/** A folder of this machine; or one of a container's volume, and how a program runs beside it, as the node's user. */
export type NodeData =
  | { kind: "folder"; folder: string }
  | { kind: "volume"; folder: string; beside: (words: readonly string[]) => ProgramLine };

export type ProgramLine = {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
};

/** How versions of Besu are named here: by an image, or by a folder. */
export type BesuVersions = {
  track: "besuImage" | "besuHome";
  /** What one is: its name in full, and the version that its program says. With `fetch` an image is pulled where this machine has not got it. */
  look(
    version: string,
    options: { fetch: boolean },
  ): Promise<{ to: string; version: string } | { failed: string }>;
  /** Whether a node was started from what this name means now. */
  runs(name: string, version: string): Promise<boolean>;
};
