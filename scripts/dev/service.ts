import type { NeededPort } from "../processes/check-ports.ts";
import type { Child } from "../processes/run-child.ts";
import type { DataFolder } from "./data-folder.ts";

/** A line of the printed table. */
export type ServiceRow = { name: string; address: string; data: string };

/** One part of `npm start`. It starts when the parts before it in the list are ready. */
export type Service = {
  name: string;
  /** Ports that are checked before anything starts. */
  ports: readonly NeededPort[];
  /** Resolves when the service is usable, or with the reason why it is not. */
  start(context: ServiceContext): Promise<StartedService | { failed: string }>;
};

export type StartedService = {
  rows: readonly ServiceRow[];
  /** The process whose unexpected end stops everything. */
  child?: Child;
};

export type ServiceContext = {
  env: Readonly<Record<string, string | undefined>>;
  data: DataFolder;
  /** Addresses that earlier services have put here for later ones. */
  addresses: {
    redis?: string;
    /** Where the faucet keeps its claims. */
    faucetRedis?: string;
    /** Where people claim. */
    faucetPage?: string;
    /** What the API keeps of the chain and of merchants. */
    postgres?: string;
    /** One node's JSON-RPC over HTTP. */
    chain?: string;
    /** The same over WebSockets, where that is another port. */
    chainWebSocket?: string;
    /** Of several nodes, the one that answers now. */
    chainNode?: () => { url: string; webSocketUrl: string };
    /** The internal RPC, which asks that node. */
    internalRpc?: string;
    /** The gateway's upstreams: every node's URL, separated by commas. */
    upstreams?: string;
    /** The faucet's private listener. */
    faucet?: string;
  };
  /** Aborted when everything stops, so that nobody waits any longer. */
  stopping: AbortSignal;
  say(text: string): void;
  childLine(name: string, line: string): void;
  /**
   * Takes every child as soon as it runs. The child ends with everything else, by SIGKILL after `endWithinMs`, and also
   * when npm start is killed.
   */
  adopt(child: Child, options: { endWithinMs: number }): void;
  /**
   * Takes the group number of a process that is not our child. The process ends when npm start is killed; otherwise an
   * `onStop` step ends it. @returns a function to call once it has ended.
   */
  guard(process: { name: string; pid: number }): () => void;
  /** Adds a step of the stop. The last step added runs first. */
  onStop(stop: () => Promise<void>): void;
};
