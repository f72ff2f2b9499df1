import { type Answer, besuErrors } from "./besu-errors.ts";
import type { RpcCall } from "./besu-framing.ts";
import type { ChainView } from "./chain-view.ts";
import { type Faults, garbageBodies, noFaults, type Override } from "./faults.ts";
import type { Lie, LieKind } from "./lies.ts";
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

    /** Each HTTP request and WebSocket message takes this much longer, and holds its worker so long. */
    slow(delayMs: number): void {
      faults.delayMs = delayMs;
    },
    /** Each call of one method takes this much longer; in an array the delays add up. */
    latency(method: string, delayMs: number): void {
      faults.methodDelaysMs.set(method, delayMs);
    },
    /** Runs the calls and answers status 200 with something else than their answers. */
    garbage(body: keyof typeof garbageBodies | { body: string } = "notJson"): void {
      faults.broken = { kind: "garbage", body: typeof body === "string" ? garbageBodies[body] : body.body };
    },
    /** Runs nothing and answers this status with a page in HTML. */
    status(status: number): void {
      faults.refusedWith = status;
    },
    /**
     * Runs the calls and sends half of the answer: less than the content length says, without the last chunk, or
     * with the connection left open.
     */
    cutBody(framing: "length" | "chunked" | "stalled" = "length"): void {
      faults.broken = { kind: "cut", framing };
    },
    /** Another chain: other hashes, other answers, and another chain id unless the network's own is given. */
    foreignChain({ chainId = 1 }: { chainId?: number } = {}): void {
      faults.foreignChainId = chainId;
    },
    /** False blocks, told to whoever asks or has subscribed; see `LieKind`. */
    lie(kind: LieKind): void {
      faults.lie = { kind, beganAt: view.height() };
      lieBegan(faults.lie);
    },
    /** Every answer has an id that nobody asked with. */
    wrongIds(): void {
      faults.wrongIds = true;
    },
    /** One answer of each array is left out; a single answer comes without its id. */
    missingId(): void {
      faults.missingId = true;
    },
    /** An array's answers come in reverse. */
    reorder(): void {
      faults.reordered = true;
    },
    /** An array with such a call in it is refused whole, by one error object; alone the call has an error of its own. */
    poison(calls: string | ((call: RpcCall) => boolean)): void {
      faults.poison = typeof calls === "string" ? (call) => call.method === calls : calls;
    },
    /** Every array is answered by one error object. */
    arrayAsErrorObject(): void {
      faults.arraysRefused = true;
    },
    /** Answers a method in its place, or leaves it to the validator by giving `undefined`. */
    answer(method: string, override: Override | Answer): void {
      faults.overrides.set(method, typeof override === "function" ? override : () => override);
    },
    /** The first such call after each new block meets its import and is answered -32603, as Besu 26.8.0 does now and then. */
    raceAtImport(method = "eth_estimateGas"): void {
      let answeredAt = view.height();
      faults.overrides.set(method, () => {
        if (view.height() === answeredAt) return undefined;
        answeredAt = view.height();
        return { error: besuErrors.internal };
      });
    },
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
