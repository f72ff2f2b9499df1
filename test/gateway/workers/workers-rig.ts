import { type Agent, request } from "node:http";
import type { Test } from "tap";
import { z } from "zod";
import { coreKey } from "../../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { watchWorkers } from "../../helpers/workers.ts";

/** Several processes start at once, on a machine that may be busy. */
const startWithinMs = 150_000;

/** What a worker says of the calls that it charged. */
export const limitsSchema = z.looseObject({
  limits: z.looseObject({ calls: z.record(z.string(), z.number()) }),
});

export type WorkersUnderTest = Awaited<ReturnType<typeof startWorkers>>;

/** A gateway of several processes, once all of them serve. */
export async function startWorkers(
  t: Test,
  {
    redisUrl,
    upstream,
    workers = 2,
    more = "",
  }: { redisUrl: string; upstream: string; workers?: number | "auto"; more?: string },
) {
  const file = writeConfig(t, { redisUrl, upstream, more: `workers: ${workers}\n${more}` });
  const gateway = runGateway(t, ["--config", file]);
  const watched = watchWorkers(await whenServing(gateway, { withinMs: startWithinMs }));
  return {
    file,
    ...gateway,
    ...watched,
    /** On a connection of its own, so that the kernel picks the worker anew each time. */
    call: (body: object, { key = coreKey }: { key?: string } = {}) =>
      callOnce({ port: watched.port, key, body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }) }),
  };
}

const answerSchema = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

/** A call, over `agent` or on a connection of its own. Rejects where the connection fails. */
export function callOnce({
  port,
  key = coreKey,
  body,
  agent,
}: {
  port: number;
  key?: string;
  body: string;
  agent?: Agent;
}): Promise<{ status: number } & z.output<typeof answerSchema>> {
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "X-API-Key": key,
    };
    const sent = request({ port, method: "POST", headers, agent: agent ?? false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, ...answerSchema.parse(JSON.parse(text)) }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
