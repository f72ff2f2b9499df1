import type { Answer, Call } from "../call.ts";
import { type Refusal, refusal } from "../refusal.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** Carries out each call that may pass, all of a batch at once; the outcomes stand in the calls' order. */
export function forward(
  calls: readonly Call[],
  { upstream }: { upstream: Upstream },
): Promise<readonly (Answer | Refusal)[]> {
  return Promise.all(
    calls.map(async (call) => {
      if (call.kind === "refused") return call.refusal;
      const answer = await upstream.ask(call);
      if (answer !== "unavailable") return answer;
      return refusal(
        "upstream_unavailable",
        call.rule.mayAskAgain
          ? "No validator answered in time; try again shortly"
          : "No validator answered in time. Whether the transaction arrived is not known: ask for it by its hash before sending another",
      );
    }),
  );
}
