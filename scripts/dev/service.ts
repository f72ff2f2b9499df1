import type { NeededPort } from "../processes/check-ports.ts";
import type { Child } from "../processes/run-child.ts";
import type { DataFolder } from "./data-folder.ts";

/** A line of the printed table. */
export type ServiceRow = { name: string; address: string; data: string };

/** What `npm start` brings up as one of its parts. Each is started when those before it in the list are ready. */
export type Service = {
  name: string;
  /** Looked at before anything is started. */
  ports: readonly NeededPort[];
  /** Resolves when the service can be used, or with why it cannot. */
  start(context: ServiceContext): Promise<StartedService | { failed: string }>;
};

export type StartedService = {
  rows: readonly ServiceRow[];
  /** The process whose end, while nobody asked for it, ends everything. */
  child?: Child;
};

export type ServiceContext = {
  env: Readonly<Record<string, string | undefined>>;
  data: DataFolder;
  /** Addresses that services started before have put here for those after them. */
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
    /** And over WebSockets, where that is another port. */
    chainWebSocket?: string;
    /** Where there are several nodes: the one that answers right now. */
    chainNode?: () => { url: string; webSocketUrl: string };
    /** The internal RPC, which asks that one. */
    internalRpc?: string;
    /** What the gateway asks: every node's, with commas. */
    upstreams?: string;
    /** The faucet's private listener. */
    faucet?: string;
  };
  /** Aborted when everything is to be stopped: no need to wait any longer. */
  stopping: AbortSignal;
  say(text: string): void;
  childLine(name: string, line: string): void;
  /**
   * Every child is given here as soon as it runs: it is ended when everything is, with SIGKILL after `endWithinMs`, and
   * also where npm start is killed.
   */
  adopt(child: Child, options: { endWithinMs: number }): void;
  /**
   * A process that is no child's, by the number of its group: it is ended where npm start is killed, else by what `onStop`
   * was given. What comes back is to be called once it has ended.
   */
  guard(process: { name: string; pid: number }): () => void;
  /** What else is to be done in the end. The last that was given here is done first. */
  onStop(stop: () => Promise<void>): void;
};
