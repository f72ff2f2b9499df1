import { createAnswerFaults } from "./answer-faults.ts";
import type { RpcCall } from "./besu-framing.ts";
import type { ChainView } from "./chain-view.ts";
import { type Faults, noFaults } from "./faults.ts";
import type { Lie } from "./lies.ts";
import type { Listener } from "./listener.ts";

/**
 * The admin side of a validator: each function begins one fault, `heal` ends them all. Faults add up, but
 * `garbage` and `cutBody` replace each other.
 */
export function createFaultControls({
  faults,
  view,
  listeners,
  connectionsMax,
  dropWebSockets,
  restarted,
  lieBegan,
}: {
  faults: Faults;
  view: ChainView;
  listeners: Listener[];
  connectionsMax: number;
  dropWebSockets: () => void;
  restarted: () => void;
  lieBegan: (lie: Lie) => void;
}) {
  let respond = () => {};
  const open = async () => {
    for (const listener of listeners) await listener.start();
  };

  function endFaults(): void {
    respond();
    Object.assign(faults, noFaults());
    for (const listener of listeners) listener.limitConnections(connectionsMax);
    view.delayImports(0);
    view.lag(0);
    view.thaw();
  }

  const controls = {
    /** Shows the chain `blocks` behind the others, at once; a smaller number catches up and brings the heads held back. */
    lag: view.lag,
    /** Stays at the block that it is at. */
    freeze: view.freeze,
    /** Sees each new block this much later than it is made. */
    delayImports: view.delayImports,

    /** Accepts connections and requests and answers none; open sockets stay. What came meanwhile is answered by `heal`. */
    hang(): void {
      if (faults.hung) return;
      faults.hung = true;
      faults.responsive = new Promise((resolve) => {
        respond = resolve;
      });
      view.freeze();
    },
    /** The process ends: sockets are destroyed, the ports refuse, pool and filters are gone. */
    async die(): Promise<void> {
      await Promise.all(listeners.map((listener) => listener.die()));
      restarted();
    },
    /**
     * The process ends `afterMs` after it began such a call, as one whose memory is used up: nothing brings it back but
     * `comeBack`.
     */
    dieOf(isDeadly: (call: RpcCall) => boolean, { afterMs = 0 } = {}): void {
      faults.endedBy = (call) => {
        if (!isDeadly(call)) return undefined;
        setTimeout(() => void controls.die(), afterMs).unref();
        return new Promise<never>(() => {});
      };
    },
    /** The process runs again, on the same ports, with the whole chain. */
    comeBack: open,

    ...createAnswerFaults({ faults, view, lieBegan }),

    /** WebSocket upgrades are answered 503; those that are open stay. */
    refuseWebSockets(): void {
      faults.webSocket = "refused";
    },
    /** WebSockets stay open and answer calls, and bring nothing that was subscribed to. */
    silentWebSocket(): void {
      faults.webSocket = "silent";
    },
    /** Ends all WebSockets without a close frame, once. */
    dropWebSockets,
    /** One HTTP or WebSocket connection above the limit is closed without an answer. */
    connectionLimit(most: number): void {
      for (const listener of listeners) listener.limitConnections(most);
    },

    /** Ends all faults: hung requests are answered now, a dead validator comes back, the chain is caught up with. */
    async heal(): Promise<void> {
      endFaults();
      await open();
    },
  };

  return { controls, endFaults };
}
