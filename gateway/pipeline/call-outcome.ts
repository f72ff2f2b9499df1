import type { Answer } from "../json-rpc/answer.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { StreamedAnswer } from "../upstream/upstream-result.ts";

/** What a client is told of one call: an answer, a long one that is still on its way, or why there is none. */
export type CallOutcome = Answer | StreamedAnswer | Refusal;
