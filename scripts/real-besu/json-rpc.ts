import { z } from "zod";

const timeoutMs = 30_000;
const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});

export type Answer = z.output<typeof answerSchema>;

export function rpcBody(method: string, params: readonly unknown[]) {
  return { jsonrpc: "2.0", id: 1, method, params };
}

export async function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, text: await response.text() };
}

/** Undefined where the text is not an answer of JSON-RPC. */
export function readAnswer(text: string): Answer | undefined {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
