import type { Call } from "../../methods/call.ts";
import { readTrace } from "../../traces/read-trace.ts";
import type { TraceSettings } from "../../traces/trace-settings.ts";

/** Holds a trace's parameters to their bounds, and writes them anew. Other calls pass as they are. */
export function boundTrace(call: Call, { bounds }: { bounds: TraceSettings }): Call {
  if (call.kind === "refused" || call.rule.trace === undefined) return call;
  const { idText, rule, paramsText } = call;
  const read = readTrace({ kind: call.rule.trace, paramsText, bounds });
  return "refused" in read
    ? { idText, kind: "refused", refusal: read }
    : { idText, kind: "forward", rule, paramsText: read.paramsText };
}
