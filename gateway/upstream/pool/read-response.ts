import type { WholeAnswer } from "../upstream-result.ts";
import { cutArray, cutLone } from "./cut-answers.ts";
import { cutArrayCarefully, cutLoneCarefully, cutLoneError } from "./cut-carefully.ts";

/** What an HTTP response holds for the calls of its request. */
export type ReadResponse =
  /** In the calls' order, undefined where an answer is missing. At least one is there. */
  | { kind: "answers"; answers: readonly (WholeAnswer | undefined)[] }
  /** One error object for the whole body: without an id, or for an array with any id. */
  | { kind: "refused"; error: WholeAnswer }
  | { kind: "failed"; reason: "status" | "bad_answer" };

/** Reads the response to a request of `count` calls. */
export function readResponse(
  count: number,
  { status, body }: { status: number; body: Buffer },
): ReadResponse {
  // Besu answers 400 with an error object to what it finds invalid. Other statuses come from a proxy.
  const isAnswer = (status >= 200 && status < 300) || status === 400;
  if (!isAnswer) return { kind: "failed", reason: "status" };
  if (count === 1) {
    const answer = cutLone(body) ?? cutLoneCarefully(body, 1);
    if (answer !== undefined) return { kind: "answers", answers: [answer] };
  } else {
    const answers = cutArray(body, count) ?? cutArrayCarefully(body, count);
    if (answers.some((answer) => answer !== undefined)) return { kind: "answers", answers };
  }
  const error = cutLoneError(body, { isOfArray: count > 1 });
  if (error !== undefined) return { kind: "refused", error };
  return { kind: "failed", reason: status === 400 ? "status" : "bad_answer" };
}
