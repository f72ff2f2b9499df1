import { connect, type Socket } from "node:net";
import type { Test } from "tap";
import type { z } from "zod";
import { answerSettingsSchema } from "../../../gateway/answer-budget/answer-settings.ts";
import type { GatewayConfig } from "../../../gateway/config.ts";
import { type StubAnswer, startStubValidator } from "../../fakes/stub-validator.ts";
import { coreKey, type GatewayUnderTest, startGateway } from "../../helpers/gateway.ts";
import { rawPost } from "../../helpers/raw-http.ts";

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;

type Call = { id: number; method: string; params: { address?: string }[] };

/** Answers `eth_getLogs` with as many bytes as the address's end says, all other methods with their names. */
export const sized: StubAnswer = (body) => {
  const calls: Call | Call[] = JSON.parse(body);
  const answers = [calls].flat().map(({ id, method, params: [filter] }) => {
    const result =
      method === "eth_getLogs" ? filler(Number(`0x${filter?.address?.slice(-8)}`)) : `"${method}"`;
    return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  });
  return Array.isArray(calls) ? `[${answers.join(",")}]` : answers.join("");
};

function filler(bytes: number): string {
  return `["${"ab".repeat((bytes - 4) / 2)}"]`;
}

/** A call whose result has so many bytes. `variant` makes it another question with an answer as long. */
export function logsOf(id: number, bytes: number, variant = 0) {
  const address = `0x${variant.toString(16).padStart(32, "0")}${bytes.toString(16).padStart(8, "0")}`;
  return {
    jsonrpc: "2.0",
    id,
    method: "eth_getLogs",
    params: [{ fromBlock: "0x1", toBlock: "0x1", address }],
  };
}

export const shortCall = (id: number) => ({ jsonrpc: "2.0", id, method: "eth_gasPrice", params: [] });

export async function startWith(
  t: Test,
  {
    redisUrl,
    answers,
    answer = sized,
    change = (config) => config,
  }: {
    redisUrl: string;
    answers: z.input<typeof answerSettingsSchema>;
    answer?: StubAnswer;
    change?: (config: GatewayConfig) => GatewayConfig;
  },
): Promise<GatewayUnderTest> {
  const validator = await startStubValidator(t, { answer });
  return startGateway(t, {
    redisUrl,
    upstreams: [validator.url],
    change: (config) => change({ ...config, answers: answerSettingsSchema.parse(answers) }),
  });
}

/** A client that asks and reads nothing before `resume`. */
export function askWithoutReading(
  t: Test,
  { port }: Pick<GatewayUnderTest, "port">,
  body: unknown,
  key = coreKey,
): { socket: Socket; isClosed: () => boolean; read: () => Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  let closed = false;
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
  });
  t.teardown(() => socket.destroy());
  socket.pause();
  socket.write(rawPost({ key, body: JSON.stringify(body) }));
  return {
    socket,
    isClosed: () => closed,
    /** What comes until the answer is whole. */
    read: () =>
      new Promise((resolve, reject) => {
        let length = Number.POSITIVE_INFINITY;
        let bytes = 0;
        socket.on("close", () => reject(new Error("closed before its end")));
        socket.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (length === Number.POSITIVE_INFINITY) {
            const head = Buffer.concat(chunks).toString("latin1");
            const end = head.indexOf("\r\n\r\n");
            length = end === -1 ? length : end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
          }
          if (bytes < length) return;
          const text = Buffer.concat(chunks).toString("latin1");
          resolve(text.slice(text.indexOf("\r\n\r\n") + 4));
        });
        socket.resume();
      }),
  };
}

export async function metric({ opsUrl }: Pick<GatewayUnderTest, "opsUrl">, name: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

export const heldBytes = (gateway: Pick<GatewayUnderTest, "opsUrl">) =>
  metric(gateway, "tollgate_gateway_answer_bytes_held");

export type RpcAnswer = { id: number; result?: unknown; error?: { code: number; data: { code: string } } };

/** Of a result as JSON: texts of this length are nothing to show in full. */
export const lengthOf = (result: unknown) => JSON.stringify(result).length;

/** How many items of a batch's answer have results, and the codes of the others. */
export function sortOut(text: string): { results: number; codes: Record<string, number> } {
  const answers: RpcAnswer[] = JSON.parse(text);
  const codes: Record<string, number> = {};
  let results = 0;
  for (const { error } of answers) {
    if (error === undefined) results += 1;
    else codes[error.code] = (codes[error.code] ?? 0) + 1;
  }
  return { results, codes };
}

/** The metric that counts answers that met a bound. */
export const boundsMet = (bound: string) => `tollgate_gateway_answer_bounds_met_total{bound="${bound}"}`;
