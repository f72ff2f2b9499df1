import { type ErrorCondition, errorTable } from "../errors.ts";

/** What a client is told with `Content-Type: application/problem+json` (RFC 9457). */
export type ProblemDocument = {
  type: "about:blank";
  title: string;
  status: number;
  detail: string;
  code: string;
  /** Which lines of the log are about this request. */
  requestId?: string;
  /** What is wrong with single fields; `pointer` is a JSON Pointer (RFC 6901) into the body. */
  errors?: readonly FieldError[];
};

export type FieldError = { pointer: string; message: string };

export const problemType = "application/problem+json";

/** A condition of the error table as a problem document. `detail` must hold nothing that is not for the client. */
export function problemDocument({
  condition,
  detail,
  requestId,
  errors,
}: {
  condition: ErrorCondition;
  detail: string;
  requestId?: string | undefined;
  errors?: readonly FieldError[] | undefined;
}): ProblemDocument {
  const { status, code, meaning } = errorTable[condition];
  return {
    type: "about:blank",
    title: meaning,
    status,
    detail,
    code,
    ...(requestId === undefined ? {} : { requestId }),
    ...(errors === undefined ? {} : { errors }),
  };
}
