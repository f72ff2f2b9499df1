import type { WholeAnswer } from "../upstream-result.ts";

export type ResponseClass =
  | { kind: "value" }
  | { kind: "null" }
  | { kind: "error"; code: number; message: string };

/** Classifies an answer, and reads no more of it than needed: nearly all are values. */
export function classifyResponse(answer: WholeAnswer): ResponseClass {
  const { afterId } = answer;
  if (isValue(answer)) return { kind: "value" };
  // The rest was proved to be JSON when it was cut.
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

/** Whether the answer is a result other than `null`. Its first bytes tell. */
export function isValue({ afterId }: WholeAnswer): boolean {
  return afterId.startsWith(',"result":') && !afterId.startsWith("null", 10);
}

/** Whether the answer is a result. Its first bytes tell. */
export function isPlainResult({ afterId }: WholeAnswer): boolean {
  return afterId.startsWith(',"result":');
}
