import type { ErrorCondition } from "../errors.ts";
import type { FieldError } from "./problem.ts";
import type { RateLimit } from "./rate-limit-fields.ts";

/** A request that is not carried out, and what the client is told. A value, not an exception. */
export type Refusal = {
  refused: ErrorCondition;
  /** What is wrong and what to do about it. Never an inner error's text. */
  detail: string;
  errors?: readonly FieldError[];
  /** Which of the condition's causes it is, for a page that says it in its own words. Programs are not told. */
  reason?: string;
  /** When another try makes sense. */
  retryAfterMs?: number;
  /** The limits that the request counted in, told whatever it was refused for. */
  limits?: readonly RateLimit[];
  /** What the problem document says beyond its own members (RFC 9457 section 3.2): an order that is to be paid. */
  members?: Readonly<Record<string, unknown>>;
  /** Fields of the answer that belong to this refusal: `Location`, `WWW-Authenticate`. */
  headers?: Readonly<Record<string, string>>;
};

export function refusal(
  refused: ErrorCondition,
  detail: string,
  more: Omit<Refusal, "refused" | "detail"> = {},
): Refusal {
  return { refused, detail, ...more };
}

export function isRefusal(value: object): value is Refusal {
  return "refused" in value;
}
