import { type Answer, besuErrors } from "./besu-errors.ts";
import type { RpcCall } from "./besu-framing.ts";
import type { ChainView } from "./chain-view.ts";
import { type Faults, garbageBodies, type Override } from "./faults.ts";
import type { Lie, LieKind } from "./lies.ts";

/** Faults of a validator's answers: late, false, garbled, cut short or mixed up. */
export function createAnswerFaults({
  faults,
  view,
  lieBegan,
}: {
  faults: Faults;
  view: ChainView;
  lieBegan: (lie: Lie) => void;
}) {
  return {
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
  };
}
