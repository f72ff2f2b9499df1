import { type Agent, request } from "node:http";
import type { Test } from "tap";
import { z } from "zod";
import { coreKey } from "../../helpers/gateway.ts";
import { type GatewayProcess, runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const placeSchema = z.object({
  name: z.string(),
  role: z.enum(["worker", "side"]),
  pid: z.number().nullable(),
  state: z.string(),
  deaths: z.number(),
});

const statusSchema = z.looseObject({
  state: z.string(),
  workers: z.object({
    processes: z.array(placeSchema),
    restart: z
      .object({ state: z.string(), replaced: z.number(), of: z.number(), problems: z.array(z.string()) })
      .nullable(),
  }),
  each: z.record(z.string(), z.record(z.string(), z.unknown()).nullable()),
  config: z.looseObject({ hash: z.string() }).optional(),
});

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
  }: { redisUrl: string; upstream: string; workers?: number; more?: string },
) {
  const file = writeConfig(t, { redisUrl, upstream, more: `workers: ${workers}\n${more}` });
  const gateway = runGateway(t, ["--config", file]);
  return { file, ...watchWorkers(gateway, await whenServing(gateway)) };
}

function watchWorkers(gateway: GatewayProcess, { port, opsPort }: { port: number; opsPort: number }) {
  const url = `http://127.0.0.1:${port}/`;
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const status = async () => statusSchema.parse(await (await fetch(`${opsUrl}/status`)).json());
  const pidOf = async (name: string): Promise<number> => {
    const found = (await status()).workers.processes.find((place) => place.name === name);
    if (found?.pid === null || found === undefined) throw new Error(`${name} does not run`);
    return found.pid;
  };
  return {
    ...gateway,
    port,
    opsPort,
    url,
    opsUrl,
    status,
    pidOf,
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    /** On a connection of its own, so that the kernel picks the worker anew each time. */
    call: (body: object, { key = coreKey }: { key?: string } = {}) =>
      callOnce({ port, key, body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }) }),
    /** Resolves once this place has another process, and that one serves. */
    replaced: (name: string, oldPid: number) =>
      waitFor(`${name} is replaced`, async () => {
        const place = (await status()).workers.processes.find((found) => found.name === name);
        return place?.state === "serving" && place.pid !== oldPid ? place : undefined;
      }),
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

/** Sum of a metric over the lines with these labels. */
export function metricIn(text: string, name: string, labels = ""): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
