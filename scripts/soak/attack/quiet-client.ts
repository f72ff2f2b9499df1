import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Pool } from "undici";

/**
 * The quiet client: a thread with a good key and few calls. It reports how each call ended, so that an attack's effect
 * on others is measured outside the attacker's event loop.
 */
export type QuietTask = { urls: readonly string[]; key: string; transactionHash: string; pauseMs: number };

/** Reads of state and calls that run the EVM are measured separately. */
export type QuietKind = "read" | "call";

export type QuietSample = {
  kind: QuietKind;
  /** When the call was made, in Unix milliseconds. */
  askedAtMs: number;
  tookMs: number;
  /** What was wrong with the answer, in words. */
  failure?: string;
};

type Question = { method: string; params: unknown[]; isRight: (result: unknown) => boolean };

const answerMsMax = 15_000;

async function keepAsking(kind: QuietKind, task: QuietTask): Promise<never> {
  const pools = task.urls.map((url) => new Pool(url, { connections: 1 }));
  for (let turn = 0; ; turn += 1) {
    const pool = pools[turn % pools.length];
    if (pool !== undefined) parentPort?.postMessage(await askOnce(kind, pool, question(kind, turn, task)));
    await sleep(task.pauseMs);
  }
}

function question(kind: QuietKind, turn: number, { transactionHash }: QuietTask): Question {
  // A new address each time, so that no cache answers.
  const address = `0x${(0x51e7 * 2 ** 32 + turn).toString(16).padStart(40, "0")}`;
  if (kind === "call")
    return {
      method: "eth_call",
      params: [{ to: address, data: "0x" }, "latest"],
      isRight: (result) => result === "0x",
    };
  const reads: Question[] = [
    { method: "eth_getBalance", params: [address, "latest"], isRight: (result) => result === "0x0" },
    { method: "eth_blockNumber", params: [], isRight: (result) => Number(result) > 0 },
    {
      method: "eth_getTransactionReceipt",
      params: [transactionHash],
      isRight: (result) => typeof result === "object" && result !== null,
    },
  ];
  const [first] = reads;
  const chosen = reads[turn % reads.length] ?? first;
  if (chosen === undefined) throw new Error("there is nothing to ask");
  return chosen;
}

async function askOnce(
  kind: QuietKind,
  pool: Pool,
  { method, params, isRight }: Question,
): Promise<QuietSample> {
  const askedAtMs = Date.now();
  const started = performance.now();
  const took = () => performance.now() - started;
  try {
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/",
      headers: { "content-type": "application/json", "x-api-key": task.key },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(answerMsMax),
    });
    const text = await body.text();
    const answer: { result?: unknown } = JSON.parse(text);
    const sample = { kind, askedAtMs, tookMs: took() };
    return isRight(answer.result)
      ? sample
      : { ...sample, failure: `${method}: ${statusCode} ${text.slice(0, 200)}` };
  } catch (error) {
    return { kind, askedAtMs, tookMs: took(), failure: `${method}: ${String(error)}` };
  }
}

const task: QuietTask = workerData;
void keepAsking("read", task);
void keepAsking("call", task);
