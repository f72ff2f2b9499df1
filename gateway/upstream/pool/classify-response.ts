import type { WholeAnswer } from "../upstream-result.ts";

export type ResponseClass =
  | { kind: "value" }
  | { kind: "null" }
  | { kind: "error"; code: number; message: string };

/** What an answer says, without reading it further than needed: nearly all are values. */
export function classifyResponse(answer: WholeAnswer): ResponseClass {
  const { afterId } = answer;
  if (isValue(answer)) return { kind: "value" };
  // Errors and answers of another shape were proved to be JSON when they were cut.
  const response: unknown = JSON.parse(
    Buffer.from(`${answer.beforeId}0${afterId}`, "latin1").toString("utf8"),
  );
  if (typeof response !== "object" || response === null) return { kind: "value" };
  if ("error" in response && typeof response.error === "object" && response.error !== null) {
    const { error } = response;
    const code = "code" in error && typeof error.code === "number" ? error.code : 0;
    const message = "message" in error && typeof error.message === "string" ? error.message : "";
    return { kind: "error", code, message };
  }
  return "result" in response && response.result === null ? { kind: "null" } : { kind: "value" };
}

/** Whether it is a result other than `null`, by its first bytes alone. */
export function isValue({ afterId }: WholeAnswer): boolean {
  return afterId.startsWith(',"result":') && !afterId.startsWith("null", 10);
}

/** Whether it is a result, by its first bytes alone. */
export function isPlainResult({ afterId }: WholeAnswer): boolean {
  return afterId.startsWith(',"result":');
}
