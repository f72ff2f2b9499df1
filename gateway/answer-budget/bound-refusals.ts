import { type Refusal, refusal, tooManyOnTheirWay } from "../json-rpc/refusal.ts";
import type { Unanswered } from "../upstream/upstream-result.ts";
import type { AnswerBound } from "./answer-budget.ts";

/**
 * What a call is told whose answer was there but found no room. What would be the same next time is -32602, which no client
 * repeats by itself (viem repeats -32005); what reading or waiting mends is -32005 or -32002.
 */
export const boundRefusals: Readonly<Record<AnswerBound, Refusal>> = {
  body: refusal(
    "answer_too_large",
    "The answers of this request are together longer than one may be; ask this call alone or for less, for instance fewer blocks",
  ),
  key: refusal(
    "rate_limited",
    "Answers that this API key has not read hold as many bytes as they may; read them, then ask again",
    { data: { retryAfterMs: 1000 }, headers: { "Retry-After": "1" } },
  ),
  process: refusal(
    "service_unavailable",
    "The gateway holds as many bytes of answers as it can; try again shortly, or ask for less",
    { headers: { "Retry-After": "1" } },
  ),
};

/** The same for what found none on its way here, or was not let in. */
export const unmetRefusals = {
  crowded: tooManyOnTheirWay,
  too_large: refusal(
    "answer_too_large",
    "The answer is longer than the gateway holds; ask for less, for instance fewer blocks, or ask it alone over HTTP, where long answers stream",
  ),
  no_room: boundRefusals.process,
} as const satisfies Partial<Record<Unanswered, Refusal>>;

/** Undefined where it is for another reason that there is no answer. */
export function unmetRefusal(why: Unanswered): Refusal | undefined {
  return why === "crowded" || why === "too_large" || why === "no_room" ? unmetRefusals[why] : undefined;
}
