import { setTimeout as sleep } from "node:timers/promises";
import { benchKeys } from "./bench-keys.ts";
import { judgeAnswer } from "./judge-answer.ts";
import { post } from "./post.ts";
import type { StubChain } from "./validators/stub-chain.ts";
import { createUnique, fill, type Workload } from "./workloads.ts";

export type Samples = {
  answered: number;
  wrong: number;
  /** What was wrong first. */
  firstProblem: string | undefined;
};

/** So rarely that it adds nothing to the load. */
const pauseMs = 50;

/**
 * Makes the load's requests one after the other and checks the answers, which the load tool does not. `stop` resolves
 * with the findings.
 */
export function sampleAnswers({
  url,
  work,
  chain,
  run,
}: {
  url: string;
  work: Workload;
  chain: StubChain;
  run: number;
}): { stop(): Promise<Samples> } {
  const samples: Samples = { answered: 0, wrong: 0, firstProblem: undefined };
  const nextUnique = createUnique(run);
  let stopped = false;

  async function sample(): Promise<void> {
    for (let turn = 0; !stopped; turn += 1) {
      const request = work.requests[turn % work.requests.length];
      if (request === undefined) return;
      const sent = fill(request.body, nextUnique);
      const key = benchKeys[request.keyIndex]?.value ?? "";
      const problem = await post(url, { key, body: sent }).then(
        (answer) => judgeAnswer({ sent, answer, chain }),
        (error: unknown) => `no answer: ${error instanceof Error ? error.message : error}`,
      );
      samples.answered += 1;
      if (problem !== undefined) samples.wrong += 1;
      samples.firstProblem ??= problem;
      await sleep(pauseMs);
    }
  }

  const sampling = sample();
  return {
    async stop() {
      stopped = true;
      await sampling;
      return samples;
    },
  };
}
