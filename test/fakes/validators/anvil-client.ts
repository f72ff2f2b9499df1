import { Pool } from "undici";
import { besuErrors, type RpcError } from "./besu-errors.ts";
import { isObject } from "./json.ts";

export type AnvilAnswer = { result: unknown } | { error: RpcError };

export type AnvilClient = {
  /** Asks anvil; calls of one event-loop tick travel together, and anvil runs them side by side, in no order. */
  call: (method: string, params: unknown[]) => Promise<AnvilAnswer>;
  /** As `call`, and throws where anvil answers with an error. */
  must: (method: string, params: unknown[]) => Promise<unknown>;
  close: () => Promise<void>;
};

type Waiting = { method: string; params: unknown[]; settle: (answer: AnvilAnswer) => void };

const arrayLengthMax = 200;

export function createAnvilClient({ url }: { url: string }): AnvilClient {
  const pool = new Pool(url, { connections: 4, headersTimeout: 0, bodyTimeout: 0 });
  let waiting: Waiting[] = [];

  function call(method: string, params: unknown[]): Promise<AnvilAnswer> {
    return new Promise((settle) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ method, params, settle });
    });
  }

  function flush(): void {
    const leaving = waiting;
    waiting = [];
    for (let start = 0; start < leaving.length; start += arrayLengthMax) {
      void ask(leaving.slice(start, start + arrayLengthMax));
    }
  }

  async function ask(calls: Waiting[]): Promise<void> {
    const body = JSON.stringify(
      calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params })),
    );
    const answers = new Map<unknown, AnvilAnswer>();
    try {
      const headers = { "content-type": "application/json" };
      const response = await pool.request({ path: "/", method: "POST", headers, body });
      const parsed: unknown = await response.body.json();
      for (const answer of Array.isArray(parsed) ? parsed : []) {
        if (isObject(answer)) answers.set(answer["id"], readAnswer(answer));
      }
    } catch {
      // Every call below is then answered with the internal error of a node whose database is gone.
    }
    calls.forEach((waitingCall, id) => {
      waitingCall.settle(answers.get(id) ?? { error: besuErrors.internal });
    });
  }

  async function must(method: string, params: unknown[]): Promise<unknown> {
    const answer = await call(method, params);
    if ("error" in answer) throw new Error(`anvil refused ${method}: ${answer.error.message}`);
    return answer.result;
  }

  return { call, must, close: () => pool.destroy() };
}

function readAnswer(answer: Record<string, unknown>): AnvilAnswer {
  const error = answer["error"];
  if (!isObject(error)) return { result: answer["result"] ?? null };
  const { code, message, data } = error;
  return {
    error: {
      code: typeof code === "number" ? code : besuErrors.internal.code,
      message: typeof message === "string" ? message : besuErrors.internal.message,
      ...(typeof data === "string" ? { data } : {}),
    },
  };
}
