import { Client } from "undici";
import { basicAuthorization } from "../basic-authorization.ts";
import { isRecord } from "./read-header.ts";

export type RpcCall = { method: string; params: readonly unknown[] };

/** The results in the calls' order. One error fails them all, because a validator may refuse none of these calls. */
export type RpcAsked =
  | { kind: "answered"; results: unknown[] }
  /** `call` is the place of the call that was answered without a result. */
  | { kind: "failed"; reason: string; call?: number };

export type RpcClient = {
  /** Sends one array of calls. One at a time is under way. Never throws. */
  ask(calls: readonly RpcCall[]): Promise<RpcAsked>;
  stop(): Promise<void>;
};

/**
 * One keep-alive HTTP connection to one validator, for calls of our own. It is apart from the connections for clients' calls,
 * so that no queue of theirs delays the head. `disconnected` is called when it closes, with whether the validator closed it.
 */
export function createRpcClient({
  url,
  timeoutMs,
  connectTimeoutMs,
  answerBytesMax,
  disconnected,
}: {
  url: string;
  timeoutMs: number;
  connectTimeoutMs: number;
  answerBytesMax: number;
  disconnected: (byValidator: boolean) => void;
}): RpcClient {
  const { origin, pathname, search } = new URL(url);
  const authorization = basicAuthorization(url);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (authorization !== undefined) headers["authorization"] = authorization;
  const client = new Client(origin, {
    pipelining: 1,
    connectTimeout: connectTimeoutMs,
    maxResponseSize: answerBytesMax,
    // Each request's own signal keeps the time.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  // undici names what it closes itself (an aborted request, an idle connection) "information".
  const onDisconnect = (_origin: URL, _targets: unknown, error: Error) =>
    disconnected(!("code" in error && error.code === "UND_ERR_INFO"));
  client.on("disconnect", onDisconnect);

  async function post(body: unknown): Promise<{ answer: unknown } | { reason: string }> {
    try {
      const response = await client.request({
        method: "POST",
        path: pathname + search,
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const answer: unknown = await response.body.json();
      return response.statusCode === 200 ? { answer } : { reason: `status ${response.statusCode}` };
    } catch (error) {
      return { reason: reasonOf(error) };
    }
  }

  return {
    async ask(calls) {
      const requests = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
      const posted = await post(requests);
      if ("reason" in posted) return { kind: "failed", reason: posted.reason };
      if (Array.isArray(posted.answer)) return readResults(posted.answer, calls.length);
      // A node without arrays answers them with one error object, and may still answer each call alone.
      const answers: unknown[] = [];
      for (const request of requests) {
        const alone = await post(request);
        if ("reason" in alone) return { kind: "failed", reason: alone.reason };
        answers.push(alone.answer);
      }
      return readResults(answers, calls.length);
    },
    async stop() {
      client.off("disconnect", onDisconnect);
      await client.destroy();
    },
  };
}

function readResults(answers: readonly unknown[], count: number): RpcAsked {
  const results = new Map<number, unknown>();
  for (const answer of answers) {
    if (!isRecord(answer) || typeof answer["id"] !== "number")
      return { kind: "failed", reason: "an answer without a result" };
    if (!("result" in answer) || "error" in answer) {
      return { kind: "failed", reason: "an answer without a result", call: answer["id"] };
    }
    results.set(answer["id"], answer["result"]);
  }
  const ordered: unknown[] = [];
  for (let id = 0; id < count; id += 1) {
    if (!results.has(id)) return { kind: "failed", reason: "an answer is missing" };
    ordered.push(results.get(id));
  }
  return { kind: "answered", results: ordered };
}

/** Few different words, because each change of them is a line in the log; never an address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "failed";
  if (error.name === "TimeoutError") return "no answer in time";
  if (error.name === "SyntaxError") return "no JSON";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
