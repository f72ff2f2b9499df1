import type { z } from "zod";
import { ChainUnavailableError, type RpcAnswer } from "./rpc-client.ts";

/** The result of a call as a schema reads it. @throws ChainUnavailableError for an error, or a result of another form. */
export function readAnswer<Schema extends z.ZodType>(
  answer: RpcAnswer | undefined,
  schema: Schema,
): z.output<Schema> {
  if (answer === undefined) throw unusable("there is none");
  if ("error" in answer) throw unusable(answer.error.message);
  const parsed = schema.safeParse(answer.result);
  if (parsed.success) return parsed.data;
  throw unusable("not of the expected form", parsed.error);
}

function unusable(why: string, cause?: Error): ChainUnavailableError {
  return new ChainUnavailableError(`the node's answer cannot be used: ${why}`, { cause });
}
