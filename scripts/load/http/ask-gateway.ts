import { z } from "zod";
import { describeLimit } from "./describe-limit.ts";
import type { Target } from "./target.ts";
import { networkReply } from "./transport.ts";

export type Question = { method: string; params: readonly unknown[] };

/** Asks calls as one request beside the load, not measured. @throws GatewayError where any of them is not answered. */
export type AskGateway = (questions: readonly Question[]) => Promise<unknown[]>;

/** Why the gateway cannot be asked, in words for the person at the terminal. */
export class GatewayError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "GatewayError";
  }
}

const askedAtOnceMax = 50;
const answerTimeoutMs = 10_000;
const errorSchema = z.object({ code: z.number(), message: z.string(), data: z.unknown() });
const answerSchema = z.object({
  id: z.number().nullable(),
  result: z.unknown(),
  error: errorSchema.optional(),
});
const refusalSchema = z.object({ error: errorSchema });

/** One connection for the requests before the load and beside it. */
export function createAskGateway(target: Target): { ask: AskGateway; close(): void } {
  const client = target.connect();
  return {
    async ask(questions) {
      const calls = questions.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
      const { status, headers, text } = await post(JSON.stringify(calls.length === 1 ? calls[0] : calls));
      const json = parseJson(text);
      const refusal = refusalSchema.safeParse(json).data?.error;
      if (status !== 200) throw new GatewayError(describeRefusal(status, refusal?.message, headers));
      const answers = z.array(answerSchema).safeParse(Array.isArray(json) ? json : [json]).data;
      if (answers === undefined) {
        throw new GatewayError(`${target.url} answers something that is no JSON-RPC: is it a gateway?`);
      }
      return questions.map(({ method }, id) => {
        const answer = answers.find((candidate) => candidate.id === id);
        if (answer?.error !== undefined) {
          throw new GatewayError(`${method}: ${answer.error.message} (${answer.error.code})`);
        }
        if (answer === undefined) throw new GatewayError(`${method} was not answered`);
        return answer.result;
      });
    },
    close: () => void client.destroy(),
  };

  async function post(body: string) {
    try {
      const answer = await client.request({
        path: target.path,
        method: "POST",
        headers: target.headers,
        body,
        signal: AbortSignal.timeout(answerTimeoutMs),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    } catch (error) {
      if (error instanceof Error && error.name === "TimeoutError") {
        throw new GatewayError(`${target.url} does not answer within ${answerTimeoutMs / 1000} s.`);
      }
      const { code, message } = networkReply(error instanceof Error ? error : new Error(String(error)));
      throw new GatewayError(
        `${target.url} cannot be reached (${code}: ${message}). Is the gateway up, and is --url its address?`,
      );
    }
  }
}

/** A quantity as JSON-RPC writes it, as a bigint. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-f]+$/i)
  .transform((text) => BigInt(text));

/** Reads what was answered. @throws GatewayError where it is of another shape than the method's. */
export function readAnswer<Schema extends z.ZodType>(
  answer: unknown,
  { schema, method }: { schema: Schema; method: string },
): z.output<Schema> {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new GatewayError(
    `${method} was answered with something else than it should: is this an Ethereum chain?`,
  );
}

/** Asks one call for each item, a few dozen in a batch. @throws GatewayError where any of them is not answered. */
export async function askEach<Item>(
  ask: AskGateway,
  items: readonly Item[],
  question: (item: Item, index: number) => Question,
): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let from = 0; from < items.length; from += askedAtOnceMax) {
    const part = items.slice(from, from + askedAtOnceMax);
    answers.push(...(await ask(part.map((item, index) => question(item, from + index)))));
  }
  return answers;
}

function describeRefusal(
  status: number,
  message: string | undefined,
  headers: Parameters<typeof describeLimit>[0],
): string {
  const what = `The gateway answers ${status}${message === undefined ? "" : `: ${message}`}`;
  if (status === 401 || status === 403) return `${what}. Check the key (--key-file, --key or TOLLGATE_KEY).`;
  if (status === 429) return `${what}. ${describeLimit(headers)}`;
  return `${what}. Check --url.`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
