import type { Answer } from "./besu-errors.ts";
import type { RpcCall } from "./besu-framing.ts";
import type { Lie } from "./lies.ts";

/** In what way every HTTP answer is broken, after its calls were run. */
export type BrokenAnswer =
  | { kind: "garbage"; body: string }
  | { kind: "cut"; framing: "length" | "chunked" | "stalled" };

export type Override = (params: unknown[]) => Answer | Promise<Answer> | undefined;

/** Everything that is wrong with one validator at the moment. Several faults may hold at once. */
export type Faults = {
  /** Settled while the validator answers; pending while it hangs. */
  responsive: Promise<void>;
  hung: boolean;
  delayMs: number;
  methodDelaysMs: Map<string, number>;
  /** The HTTP status that every request gets, with none of its calls run. */
  refusedWith: number | undefined;
  broken: BrokenAnswer | undefined;
  foreignChainId: number | undefined;
  lie: Lie | undefined;
  wrongIds: boolean;
  missingId: boolean;
  reordered: boolean;
  arraysRefused: boolean;
  poison: ((call: RpcCall) => boolean) | undefined;
  /** Never settles for a call that ends the process, which it sees to. */
  endedBy: ((call: RpcCall) => Promise<never> | undefined) | undefined;
  overrides: Map<string, Override>;
  webSocket: "open" | "refused" | "silent";
};

export function noFaults(): Faults {
  return {
    responsive: Promise.resolve(),
    hung: false,
    delayMs: 0,
    methodDelaysMs: new Map(),
    refusedWith: undefined,
    broken: undefined,
    foreignChainId: undefined,
    lie: undefined,
    wrongIds: false,
    missingId: false,
    reordered: false,
    arraysRefused: false,
    poison: undefined,
    endedBy: undefined,
    overrides: new Map(),
    webSocket: "open",
  };
}

export const garbageBodies = {
  notJson: "<html><body>It works!</body></html>",
  wrongShape: '{"hello":["world",1]}',
  halfJson: '[{"jsonrpc":"2.0","id":1,"res',
  empty: "",
} as const;
