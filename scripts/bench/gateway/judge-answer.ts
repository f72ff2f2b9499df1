import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Posted } from "./post.ts";
import type { StubChain } from "./validators/stub-chain.ts";

const call = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) });
const response = z.strictObject({ jsonrpc: z.literal("2.0"), id: z.number(), result: z.unknown() });

/** Blocks that a contestant may lag behind: a gateway announces a block only when two validators have it. */
const lagBlocksMax = 2;
const shownMax = 200;

/** What is wrong with an answer, in words; undefined if it is right. */
export function judgeAnswer({
  sent,
  answer: { status, text },
  chain,
}: {
  sent: string;
  answer: Posted;
  chain: StubChain;
}): string | undefined {
  const wrong = (what: string) => `${what}\n  asked: ${shorten(sent)}\n  answer: ${status} ${shorten(text)}`;
  if (status !== 200) return wrong(`status ${status}, not 200`);
  const request: unknown = JSON.parse(sent);
  const answer = parseJson(text);
  if (!Array.isArray(request)) return one(request, answer);
  if (!Array.isArray(answer) || answer.length !== request.length)
    return wrong("not one answer for each call");
  for (const item of request) {
    const { id } = call.parse(item);
    const problem = one(
      item,
      answer.find((candidate) => response.safeParse(candidate).data?.id === id),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;

  function one(asked: unknown, answered: unknown): string | undefined {
    const { id, method, params } = call.parse(asked);
    const read = response.safeParse(answered);
    if (!read.success) return wrong("no response object with a result");
    if (read.data.id !== id) return wrong(`id ${read.data.id}, not ${id}`);
    const { result } = read.data;
    const isRight =
      method === "eth_blockNumber"
        ? isRecent(result)
        : isDeepStrictEqual(result, chain.resultOf(method, params));
    return isRight ? undefined : wrong("another result than the validators give");
  }

  function isRecent(result: unknown): boolean {
    const lag = typeof result === "string" ? chain.latest() - Number(result) : Number.NaN;
    return lag >= -1 && lag <= lagBlocksMax;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
