import { Agent, request } from "undici";
import { z } from "zod";
import { errorTable } from "../errors.ts";

export type RpcCall = { method: string; params: readonly unknown[] };
/**
 * `ofGateway`: a gateway or proxy said it in the node's place, so that it tells nothing of what was asked. `data` is what
 * the node added, such as the bytes that a call reverted with.
 */
export type RpcError = { code: number; message: string; data?: unknown; ofGateway: boolean };
export type RpcAnswer = { result: unknown } | { error: RpcError };

export type RpcClient = ReturnType<typeof createRpcClient>;

/** A block with all its transactions stays below it. */
const answerBytesMaxDefault = 32 * 1024 * 1024;
/** The gateway takes arrays up to 100. */
const arrayMax = 100;

/**
 * JSON-RPC towards the chain: a gateway, with a key in `headers`, or a node. Errors that the node answers are values; a
 * node that does not answer, or answers with something else, throws ChainUnavailableError. Nothing is asked twice.
 *
 * `url`, `headers` and `timeoutMs` are read for each call: one that is under way ends where it began.
 */
export function createRpcClient(target: {
  readonly url: string;
  /** What says who asks: `X-API-Key`, `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For each whole answer. */
  readonly timeoutMs: number;
  /** A longer answer is none. */
  answerBytesMax?: number;
}) {
  const dispatcher = new Agent({
    maxResponseSize: target.answerBytesMax ?? answerBytesMaxDefault,
    // Of the start: what is not connected by then is begun anew, so that a host that comes back is found.
    connectTimeout: target.timeoutMs,
  });
  let lastId = 0;

  async function post(body: unknown): Promise<{ json: unknown; ofGateway: boolean }> {
    const { url, headers = {}, timeoutMs } = target;
    try {
      const response = await request(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
        dispatcher,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { json: await response.body.json(), ofGateway: isStatusOfGateway(response.statusCode) };
    } catch (cause) {
      throw new ChainUnavailableError("the node does not answer", { cause });
    }
  }

  async function askArray(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
    const bodies = calls.map(({ method, params }) => {
      lastId += 1;
      return { jsonrpc: "2.0", id: lastId, method, params };
    });
    const { json, ofGateway } = await post(bodies);
    const parsed = z.array(answerSchema).safeParse(json);
    if (!parsed.success) {
      const refused = answerSchema.safeParse(json).data?.error?.message;
      const what = refused === undefined ? "something that is not JSON-RPC" : `one error: ${refused}`;
      throw new ChainUnavailableError(`the node answers an array of calls with ${what}`);
    }
    const byId = new Map(parsed.data.map((answer) => [answer.id, answer]));
    return bodies.map(({ id }) => toAnswer(byId.get(id), { ofGateway }));
  }

  return {
    async ask(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
      lastId += 1;
      const id = lastId;
      const { json, ofGateway } = await post({ jsonrpc: "2.0", id, method, params });
      const parsed = answerSchema.safeParse(json);
      const answer = parsed.data;
      if (answer?.id === id) return toAnswer(answer, { ofGateway });
      // Whoever refuses a call without its id did not read so far: that tells nothing of the call.
      const isUnread = answer?.id === null && answer.error !== undefined;
      return toAnswer(isUnread ? answer : undefined, { ofGateway: true });
    },

    /** Several calls in arrays; the answers in the calls' order. */
    async askAll(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
      const answers: RpcAnswer[] = [];
      for (let at = 0; at < calls.length; at += arrayMax) {
        answers.push(...(await askArray(calls.slice(at, at + arrayMax))));
      }
      return answers;
    },

    /** Ends what is under way. */
    stop: () => dispatcher.destroy(),

    /** Lets what is under way end; nothing more is to be asked. */
    retire: () => dispatcher.close(),
  };
}

const answerSchema = z.object({
  id: z
    .number()
    .nullish()
    .transform((id) => id ?? null),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});

/** The code by which a gateway marks the errors that are its own. */
const ownDataSchema = z.object({ code: z.enum(Object.values(errorTable).map(({ code }) => code)) });

/** A node says what it thinks of a call with 200, or with 400 where it cannot read it. */
function isStatusOfGateway(status: number): boolean {
  return status !== 200 && status !== 400;
}

function toAnswer(
  answer: z.output<typeof answerSchema> | undefined,
  { ofGateway }: { ofGateway: boolean },
): RpcAnswer {
  if (answer?.error !== undefined) {
    const { code, message, data } = answer.error;
    const isOfGateway = ofGateway || ownDataSchema.safeParse(data).success;
    return { error: { code, message, ...(data === undefined ? {} : { data }), ofGateway: isOfGateway } };
  }
  if (answer === undefined || answer.result === undefined) {
    throw new ChainUnavailableError("the node left a call without an answer");
  }
  return { result: answer.result };
}

/** The chain could not be asked, or what it said could not be used. It may have carried out what it was sent. */
export class ChainUnavailableError extends Error {
  override readonly name = "ChainUnavailableError";
}
