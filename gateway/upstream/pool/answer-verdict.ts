import type { WholeAnswer } from "./pool-answer.ts";

export type Verdict = { kind: "value" } | { kind: "null" } | { kind: "error"; code: number; message: string };

/** What an answer says, without reading it further than needed: nearly all are values. */
export function verdictOf(answer: WholeAnswer): Verdict {
  const { afterId } = answer;
  if (afterId.startsWith(',"result":') && !afterId.startsWith("null", 10)) return { kind: "value" };
  const parsed: unknown = JSON.parse(Buffer.from(`${answer.beforeId}0${afterId}`, "latin1").toString("utf8"));
  if (typeof parsed !== "object" || parsed === null) return { kind: "value" };
  if ("error" in parsed && typeof parsed.error === "object" && parsed.error !== null) {
    const { error } = parsed;
    const code = "code" in error && typeof error.code === "number" ? error.code : 0;
    const message = "message" in error && typeof error.message === "string" ? error.message : "";
    return { kind: "error", code, message };
  }
  return "result" in parsed && parsed.result === null ? { kind: "null" } : { kind: "value" };
}

/** Whether it is a result, by its first bytes alone. */
export function isPlainResult({ afterId }: WholeAnswer): boolean {
  return afterId.startsWith(',"result":');
}
