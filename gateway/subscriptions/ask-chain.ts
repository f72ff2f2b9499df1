import { travelsAs } from "../methods/block-parameter/block-range.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * Asks the validators a question of our own, by the method table's rule for it. Undefined where none answered, or with
 * an error: what is asked so is never wrong. Never rejects.
 */
export type AskChain = (
  method: string,
  params: readonly unknown[],
  about?: AskedFor,
) => Promise<{ result: unknown } | undefined>;

export type AskedFor = {
  /** For which key: what is asked for nobody in particular counts as the gateway's own. */
  keyId?: string;
  /** How many blocks a filter spans. */
  blocks?: bigint;
};

/** Whose questions are that nobody in particular asked: they wait in a queue of their own. */
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
