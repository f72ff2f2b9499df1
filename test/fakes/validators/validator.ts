import { createAnswerCall } from "./answer-body.ts";
import type { ChainBlock } from "./besu-blocks.ts";
import { createBlockText } from "./block-text.ts";
import { createCallCounters } from "./call-counters.ts";
import { createChainMethods, type Handlers } from "./chain-methods.ts";
import { type ChainView, createChainView } from "./chain-view.ts";
import { createFaultControls } from "./fault-controls.ts";
import { type Faults, noFaults } from "./faults.ts";
import { createFilters } from "./filters.ts";
import { createForeignMethods, foreignBlock } from "./foreign-chain.ts";
import { createHttpAnswers } from "./http-answers.ts";
import { createLies } from "./lies.ts";
import { createListener, type Listener } from "./listener.ts";
import { createMempool, type PooledTransaction } from "./mempool.ts";
import { createNodeMethods } from "./node-methods.ts";
import { createSendTransaction } from "./send-transaction.ts";
import type { SharedChain } from "./shared-chain.ts";
import { createStateMethods } from "./state-methods.ts";
import type { StateReader } from "./state-reader.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { createWebSocketAnswers } from "./websocket-answers.ts";
import { createWorkerSlots } from "./worker-slots.ts";

/** What the cluster needs of a validator and a test does not. */
export type ValidatorInternals = {
  pool: ReturnType<typeof createMempool>;
  /** Takes a transaction that another validator passed on. */
  receive: (transaction: PooledTransaction) => void;
  /** Whether its process runs, and whether it also answers. */
  runs: () => boolean;
  isUp: () => boolean;
  dropConnections: () => void;
  restarted: () => void;
  stop: () => Promise<void>;
};

export type ValidatorOptions = {
  index: number;
  chain: SharedChain;
  state: StateReader;
  now: () => number;
  webSocket: boolean;
  workersMax: number;
  connectionsMax: number;
  gossip: (transaction: PooledTransaction) => void;
};

export type StartedValidator = Awaited<ReturnType<typeof startValidator>>;
export type Validator = StartedValidator["validator"];

/** One stand-in for a Besu validator, on ports of its own, over the chain that all share. */
export async function startValidator(options: ValidatorOptions) {
  const { index, chain, state, now, webSocket, workersMax, connectionsMax, gossip } = options;
  const faults = noFaults();
  const counters = createCallCounters();
  const workers = createWorkerSlots({ slots: workersMax });
  const blockText = createBlockText({ validatorIndex: index });
  const pool = createMempool({ now });
  const shown = (block: ChainBlock) => {
    if (faults.lie !== undefined) return lies.tip(faults.lie) ?? block;
    return faults.foreignChainId === undefined ? block : foreignBlock(block);
  };
  const subscriptions = createSubscriptions({ headText: (block) => blockText(block, "hashes") });

  const view = createChainView({
    chain,
    imported(block) {
      pool.removeMined(block);
      filters.onBlock(shown(block));
      subscriptions.onBlock(shown(block));
    },
  });
  const lies = createLies({ view, blockText });
  const filters = createFilters({ view });
  pool.listen(({ hash }) => {
    filters.onPending(hash);
    subscriptions.onPending(hash);
  });

  const handlers: Handlers = {
    ...createNodeMethods({ view, pool }),
    ...createChainMethods({ chain, view, pool, blockText }),
    ...createStateMethods({ chain, view, pool, state }),
    ...filters.handlers,
    eth_sendRawTransaction: createSendTransaction({ chain, view, pool, accepted: gossip }),
  };
  const answerCall = createAnswerCall({
    faults,
    handlers,
    lies,
    foreignHandlers: (foreignChainId) => createForeignMethods({ view, blockText, chainId: foreignChainId }),
  });

  const webSocketAnswers = createWebSocketAnswers({ faults, counters, workers, answerCall, subscriptions });
  const http = createListener({
    onRequest: createHttpAnswers({ faults, counters, workers, answerCall }),
    connectionsChanged(open) {
      counters.connections = open;
      counters.connectionsMax = Math.max(counters.connectionsMax, open);
    },
    connectionsMax,
  });
  const socketListener = createListener({
    onRequest: (_request, response) => response.writeHead(400).end(),
    onUpgrade: webSocketAnswers.upgrade,
    connectionsChanged: () => {},
    connectionsMax,
  });
  const listeners = webSocket ? [http, socketListener] : [http];
  for (const listener of listeners) await listener.start();

  /** What ends with a process: its pool, its filters. */
  function restarted(): void {
    pool.clear();
    filters.clear();
  }

  const { controls, endFaults } = createFaultControls({
    faults,
    view,
    listeners,
    connectionsMax,
    dropWebSockets: webSocketAnswers.drop,
    restarted,
    lieBegan(lie) {
      const tip = lies.tip(lie);
      if (tip !== undefined) subscriptions.onBlock(tip);
    },
  });

  const validator = {
    index,
    url: `http://127.0.0.1:${http.port()}`,
    wsUrl: webSocket ? `ws://127.0.0.1:${socketListener.port()}` : undefined,
    calls: counters,
    /** Calls of a method so far, over HTTP and WebSocket. */
    callsOf: (method: string) => counters.methods.get(method) ?? 0,
    resetCalls(): void {
      const { connections, webSockets, inFlight } = counters;
      Object.assign(counters, createCallCounters(), { connections, webSockets, inFlight });
    },
    height: view.height,
    subscriptions: subscriptions.count,
    /** Hashes that its pool holds. */
    pendingHashes: () => pool.entries().map(({ transaction }) => transaction.hash),
    ...controls,
  };

  const internals = createInternals({ pool, chain, view, faults, http, listeners, restarted, endFaults });
  return { validator, internals };
}

function createInternals({
  pool,
  chain,
  view,
  faults,
  http,
  listeners,
  restarted,
  endFaults,
}: {
  pool: ValidatorInternals["pool"];
  chain: SharedChain;
  view: ChainView;
  faults: Faults;
  http: Listener;
  listeners: readonly Listener[];
  restarted: () => void;
  endFaults: () => void;
}): ValidatorInternals {
  return {
    pool,
    receive(transaction) {
      // One that hangs is told all the same: its peers' bytes wait in its sockets until it goes on.
      if (!http.isOpen() || transaction.nonce < chain.nonceAt(transaction.from, view.height())) return;
      pool.add(transaction, { local: false });
    },
    runs: http.isOpen,
    isUp: () => http.isOpen() && !faults.hung,
    dropConnections() {
      for (const listener of listeners) listener.dropConnections();
    },
    restarted,
    async stop() {
      view.stop();
      // What hangs would wait for ever.
      endFaults();
      await Promise.all(listeners.map((listener) => listener.die()));
    },
  };
}
