import { benchKeys, limitedKey } from "./bench-keys.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { post } from "./post.ts";
import type { StubChain } from "./validators/stub-chain.ts";
import { createUnique, fill, type Workload } from "./workloads.ts";

/** A contestant answers wrongly, so its figures would mean nothing. */
export class WrongAnswerError extends Error {
  override readonly name = "WrongAnswerError";
}

const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

/**
 * Checks that a contestant works: it answers each workload's requests rightly for every id, refuses a missing or
 * unknown key, and holds a key's limit to the call.
 * @throws WrongAnswerError
 */
export async function checkAnswers({
  name,
  url,
  keepsLimits,
  workloads,
  chain,
}: {
  name: string;
  url: string;
  keepsLimits: boolean;
  workloads: readonly Workload[];
  chain: StubChain;
}): Promise<void> {
  const fail = (problem: string): never => {
    throw new WrongAnswerError(`${name} answers wrongly, so nothing is measured: ${problem}`);
  };
  for (const workload of workloads) {
    const nextUnique = createUnique(0);
    for (const request of workload.requests) {
      const sent = fill(request.body, nextUnique);
      const answer = await post(url, { key: benchKeys[request.keyIndex]?.value ?? "", body: sent });
      const problem = judgeAnswer({ sent, answer, chain });
      if (problem !== undefined) fail(`${workload.name}: ${problem}`);
    }
  }
  for (const key of [undefined, "bench-key-that-nobody-has"]) {
    const { status } = await post(url, { ...(key === undefined ? {} : { key }), body });
    const what = key === undefined ? "a missing key" : "an unknown key";
    if (status !== 401 && status !== 403) fail(`${what} got status ${status}, not 401 or 403`);
  }
  if (keepsLimits) await checkLimit(url, fail);
}

/** Sends twice the limit, one call after the other. Exactly the first half may be answered. */
async function checkLimit(url: string, fail: (problem: string) => never): Promise<void> {
  const { value: key, limitPerMinute } = limitedKey;
  for (let call = 1; call <= 2 * limitPerMinute; call += 1) {
    const { status } = await post(url, { key, body });
    const expected = call <= limitPerMinute ? 200 : 429;
    if (status !== expected) {
      fail(
        `call ${call} of a key with ${limitPerMinute} calls a minute got status ${status}, not ${expected}`,
      );
    }
  }
}
