import type { MethodTable } from "../method-table.ts";
import type { Upstream } from "../upstream/upstream.ts";

/**
 * Asks the validators a question of our own, by the method table's rule for it. Undefined where none answered, or with
 * an error: what is asked so is never wrong. Never rejects.
 */
export type AskChain = (
  method: string,
  params: readonly unknown[],
) => Promise<{ result: unknown } | undefined>;

/** Whose such questions are: they wait in a queue of their own. */
const group = "gateway";

/** @throws Error at once for a method that is not in the table. */
export function createAskChain({
  upstream,
  methods,
}: {
  upstream: Pick<Upstream, "ask">;
  methods: Pick<MethodTable, "rules">;
}): AskChain {
  return async (method, params) => {
    const rule = methods.rules.get(method);
    if (rule === undefined) throw new Error(`config/methods.yaml has no line for ${method}`);
    const paramsText = JSON.stringify(params);
    const answer = await upstream.ask({ kind: "forward", rule, paramsText }, { group, mayStream: false });
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
