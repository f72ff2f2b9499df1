import { travelsAs } from "../methods/block-parameter/block-range.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * Sends the validators a call of the gateway's own, by the method table's rule. Undefined if none answers, or answers with
 * an error: such a call is never wrong. Never rejects.
 */
export type AskChain = (
  method: string,
  params: readonly unknown[],
  about?: AskChainOptions,
) => Promise<{ result: unknown } | undefined>;

export type AskChainOptions = {
  /** The key on whose account it is; the gateway's own by default. */
  keyId?: string;
  /** How many blocks a filter spans. */
  blocks?: bigint;
};

/** The account of the gateway's own calls. They wait in a queue of their own. */
const own = "gateway";

/** @throws Error at once for a method that is not in the table. */
export function createAskChain({
  upstream,
  methods,
}: {
  upstream: Pick<Upstream, "ask">;
  methods: Pick<MethodTable, "rules">;
}): AskChain {
  return async (method, params, { keyId = own, blocks = 1n } = {}) => {
    const rule = methods.rules.get(method);
    if (rule === undefined) throw new Error(`config/methods.yaml has no line for ${method}`);
    const paramsText = JSON.stringify(params);
    const call: CallToForward = { kind: "forward", rule: travelsAs(rule, blocks), paramsText };
    const answer = await upstream.ask(call, { group: keyId, mayStream: false });
    // Not asked for, so never a stream.
    if (typeof answer === "string" || "start" in answer) return undefined;
    return readResult(`${answer.beforeId}0${answer.afterId}`);
  };
}

function readResult(bytes: string): { result: unknown } | undefined {
  try {
    const answer: unknown = JSON.parse(Buffer.from(bytes, "latin1").toString("utf8"));
    const isResult = typeof answer === "object" && answer !== null && "result" in answer;
    return isResult ? { result: answer.result } : undefined;
  } catch {
    return undefined;
  }
}
