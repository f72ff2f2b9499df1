import { type Refusal, refusal, tooManyOnTheirWay } from "../json-rpc/refusal.ts";
import type { AnswerBound } from "./answer-budget.ts";

/**
 * What a call is told whose answer was there but found no room. What would be the same next time is -32602, which no client
 * repeats by itself (viem repeats -32005); what reading or waiting mends is -32005 or -32002.
 */
export const boundRefusals: Readonly<Record<AnswerBound, Refusal>> = {
  body: refusal(
    "answer_too_large",
    "The answers to this request are too long together; send this call alone, or ask for less, for instance fewer blocks",
  ),
  key: refusal(
    "rate_limited",
    "This API key has too many bytes of unread answers; read them, then try again",
    { data: { retryAfterMs: 1000 }, headers: { "Retry-After": "1" } },
  ),
  process: refusal(
    "service_unavailable",
    "The gateway has no memory left for answers; try again shortly, or ask for less",
    { headers: { "Retry-After": "1" } },
  ),
};

/** The same for what found none on its way here, or was not let in. */
export const unmetRefusals = {
  crowded: tooManyOnTheirWay,
  too_large: refusal(
    "answer_too_large",
    "The answer is too long; ask for less, for instance fewer blocks, or send the call alone over HTTP, where long answers are streamed",
  ),
  no_room: boundRefusals.process,
} as const satisfies Record<string, Refusal>;

/** Undefined where it is for another reason that there is no answer. */
export function unmetRefusal(why: string): Refusal | undefined {
  return why === "crowded" || why === "too_large" || why === "no_room" ? unmetRefusals[why] : undefined;
}
