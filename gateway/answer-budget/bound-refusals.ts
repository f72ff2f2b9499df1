import { type Refusal, refusal, tooManyOnTheirWay } from "../json-rpc/refusal.ts";
import type { AnswerBound } from "./answer-budget.ts";

/**
 * The refusals of calls whose answers found no room. Where the next attempt would end the same it is -32602, which no client
 * repeats by itself (viem repeats -32005). Where reading or waiting helps it is -32005 or -32002.
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

/** The refusals of calls whose answers found no room on their way in, or that were not let in. */
export const unmetRefusals = {
  crowded: tooManyOnTheirWay,
  too_large: refusal(
    "answer_too_large",
    "The answer is too long; ask for less, for instance fewer blocks, or send the call alone over HTTP, where long answers are streamed",
  ),
  no_room: boundRefusals.process,
} as const satisfies Record<string, Refusal>;

/** The refusal for that reason; undefined where it is another one. */
export function unmetRefusal(why: string): Refusal | undefined {
  return why === "crowded" || why === "too_large" || why === "no_room" ? unmetRefusals[why] : undefined;
}
