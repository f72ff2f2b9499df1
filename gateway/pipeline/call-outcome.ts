import type { Answer } from "../json-rpc/answer.ts";
import type { Refusal } from "../json-rpc/refusal.ts";
import type { StreamedAnswer } from "../upstream/upstream-result.ts";

/** What comes of one call: an answer, a long answer as a stream, or why there is none. */
export type CallOutcome = Answer | StreamedAnswer | Refusal;
