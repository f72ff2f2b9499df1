import type { Answer, Call } from "../call.ts";
import { type Refusal, refusal } from "../refusal.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { StreamedAnswer } from "../upstream/validator-pool.ts";

export type Outcome = Answer | StreamedAnswer | Refusal;

/** Carries out each call that may pass, all of a batch at once; the outcomes stand in the calls' order. */
export function forward(
  calls: readonly Call[],
  { upstream, group, mayStream }: { upstream: Upstream; group: string; mayStream: boolean },
): Promise<readonly Outcome[]> {
  return Promise.all(
    calls.map(async (call) => {
      if (call.kind === "refused") return call.refusal;
      // Nobody reads the answer to a notification, so it must not stand on its way as a stream.
      const answer = await upstream.ask(call, { group, mayStream: mayStream && call.idText !== undefined });
      if (answer === "unsent" || (answer === "unavailable" && call.rule.mayAskAgain)) return nobodyAnswered;
      return answer === "unavailable" ? outcomeUnknown : answer;
    }),
  );
}

const nobodyAnswered = refusal("upstream_unavailable", "No validator answered in time; try again shortly");
const outcomeUnknown = refusal(
  "upstream_unavailable",
  "No validator answered in time. Whether the transaction arrived is not known: ask for it by its hash before sending another",
);
