import { z } from "zod";
import { describeLimit } from "./http/describe-limit.ts";
import type { Reply } from "./http/transport.ts";
import { findMismatch } from "./mix/expectation.ts";
import type { ExpectedCall, Fault, FaultKind, LoadRequest } from "./request.ts";

export type Verdict = {
  faults: readonly Fault[];
  /** In the order of the calls; absent if there was no answer. */
  results: readonly unknown[] | undefined;
};

const errorSchema = z.object({
  code: z.number().int(),
  message: z.string(),
  data: z.unknown().optional(),
});
const refusalSchema = z.object({ error: errorSchema });
const dataSchema = z.object({ code: z.string() });

/** Whether a reply is the right answer: HTTP status, the shape of JSON-RPC 2.0, ids, and what the mix expects. */
export function judge(request: LoadRequest, reply: Reply): Verdict {
  const all = (kind: FaultKind, code: string, message: string): Verdict => ({
    faults: [{ kind, code, message, method: request.label, calls: request.calls.length }],
    results: undefined,
  });
  switch (reply.kind) {
    case "cut off":
      return { faults: [], results: undefined };
    case "network":
      return all("network", reply.code, reply.message);
    case "timeout":
      return all("timeout", "no answer", `not answered within ${reply.timeoutMs / 1000} s`);
    case "answer": {
      const json = parseJson(reply.body);
      if (reply.status !== 200) {
        const error = refusalSchema.safeParse(json).data?.error;
        const said = error?.message ?? shortened(reply.body);
        const limit = reply.status === 429 ? ` ${describeLimit(reply.headers)}` : "";
        return all("http", [reply.status, dataCode(error?.data)].join(" ").trim(), `${said}${limit}`);
      }
      if (json === undefined) return all("wrong answer", "no JSON", shortened(reply.body));
      return request.isBatch ? judgeBatch(request, json, all) : judgeSingle(request, json);
    }
  }
}

function judgeSingle({ calls }: LoadRequest, json: unknown): Verdict {
  const [call] = calls;
  if (call === undefined) return { faults: [], results: [] };
  const fault = judgeCall(call, json);
  return { faults: fault === undefined ? [] : [fault], results: [member(json, "result")] };
}

function judgeBatch(
  { calls }: LoadRequest,
  json: unknown,
  all: (kind: FaultKind, code: string, message: string) => Verdict,
): Verdict {
  if (!Array.isArray(json))
    return all("wrong answer", "no array", `a batch was answered ${shortenedJson(json)}`);
  const answers = new Map<unknown, unknown>(json.map((answer: unknown) => [member(answer, "id"), answer]));
  const asked = new Set<unknown>(calls.map(({ id }) => id));
  const isForeign = [...answers.keys()].some((id) => !asked.has(id));
  if (isForeign || answers.size !== json.length) {
    return all(
      "wrong answer",
      "ids",
      `a batch's answers have other ids than its calls: ${shortenedJson(json)}`,
    );
  }
  const faults: Fault[] = [];
  for (const call of calls) {
    const fault = answers.has(call.id)
      ? judgeCall(call, answers.get(call.id))
      : faultOf(call, "wrong answer", "missing", "the batch's answer has none for this call");
    if (fault !== undefined) faults.push(fault);
  }
  return { faults, results: calls.map(({ id }) => member(answers.get(id), "result")) };
}

function judgeCall(call: ExpectedCall, answer: unknown): Fault | undefined {
  const wrong = (code: string, message: string) => faultOf(call, "wrong answer", code, message);
  if (typeof answer !== "object" || answer === null || member(answer, "jsonrpc") !== "2.0") {
    return wrong("no JSON-RPC", `no JSON-RPC 2.0 answer: ${shortenedJson(answer)}`);
  }
  if (member(answer, "id") !== call.id) {
    return wrong("ids", `asked with id ${call.id}, answered ${shortenedJson(answer)}`);
  }
  const hasError = Object.hasOwn(answer, "error");
  if (hasError === Object.hasOwn(answer, "result")) {
    return wrong("no JSON-RPC", `neither a result nor an error alone: ${shortenedJson(answer)}`);
  }
  if (hasError) {
    const error = errorSchema.safeParse(member(answer, "error")).data;
    if (error === undefined) return wrong("no JSON-RPC", `no error object: ${shortenedJson(answer)}`);
    return faultOf(call, "json-rpc", [error.code, dataCode(error.data)].join(" ").trim(), error.message);
  }
  const mismatch = findMismatch(member(answer, "result"), call.expectation);
  return mismatch === undefined ? undefined : wrong("result", mismatch);
}

function faultOf({ method }: ExpectedCall, kind: FaultKind, code: string, message: string): Fault {
  return { kind, code, method, message, calls: 1 };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function dataCode(data: unknown): string {
  return dataSchema.safeParse(data).data?.code ?? "";
}

const messageCharsMax = 200;

function shortened(text: string): string {
  if (text === "") return "(no body)";
  return text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text;
}

function shortenedJson(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "nothing");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
