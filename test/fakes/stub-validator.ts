import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Teardown } from "../../scripts/processes/teardown.ts";

export type StubValidator = {
  url: string;
  port: number;
  /** Bodies as they arrived, in order. */
  bodies: string[];
  /** Replaces how it answers from now on. */
  answerWith(answer: StubAnswer): void;
  stop(): Promise<void>;
};

/** Either the whole response text for a request's text, or full control over the response. */
export type StubAnswer = (
  body: string,
  response: ServerResponse,
  request: IncomingMessage,
) => string | undefined | Promise<string | undefined>;

/**
 * A validator of a few lines, for tests that need exact bytes from upstream. It answers each call with
 * `"result":"<method>"` unless told otherwise; `undefined` from an answer means that it was written by hand.
 */
export async function startStubValidator(
  t: Teardown,
  { answer = echoMethod, port = 0 }: { answer?: StubAnswer; port?: number } = {},
) {
  const bodies: string[] = [];
  let current = answer;
  const server = createServer((request, response) => {
    // It has no WebSocket, and says so to whoever asks for one.
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const told = tellOfChain(body);
      if (told !== undefined) {
        response.writeHead(200, { "Content-Type": "application/json" }).end(told);
        return;
      }
      bodies.push(body);
      const text = await current(body, response, request);
      if (text !== undefined) response.writeHead(200, { "Content-Type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const listening = typeof address === "object" && address !== null ? address.port : 0;
  const stub: StubValidator = {
    url: `http://127.0.0.1:${listening}`,
    port: listening,
    bodies,
    answerWith(next) {
      current = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  t.teardown(() => stub.stop());
  return stub;
}

/** The one block of a stub's chain, and its genesis: what a gateway asks a validator of itself before it counts. */
const genesis = header("0x0", `0x${"a0".repeat(32)}`, `0x${"00".repeat(32)}`);
const latest = header("0x1", `0x${"a1".repeat(32)}`, genesis.hash);

function header(number: string, hash: string, parentHash: string) {
  return { number, hash, parentHash, timestamp: "0x1", logsBloom: `0x${"00".repeat(256)}`, transactions: [] };
}

type RpcCall = { id: number; method: string; params: unknown[] };

/** The answer to the head's own questions, which come as arrays with the chain id or blocks only; else undefined. */
function tellOfChain(body: string): string | undefined {
  const calls: RpcCall | RpcCall[] = body.startsWith("[") ? JSON.parse(body) : [];
  if (!Array.isArray(calls) || !calls.some(({ method }) => method === "eth_getBlockByNumber"))
    return undefined;
  const results: Readonly<Record<string, (params: unknown[]) => unknown>> = {
    eth_chainId: () => "0x228d",
    eth_blockNumber: () => latest.number,
    eth_getBlockByNumber: ([number]) =>
      number === "0x0" ? genesis : number === "latest" || number === "0x1" ? latest : null,
  };
  if (!calls.every(({ method }) => Object.hasOwn(results, method))) return undefined;
  return JSON.stringify(
    calls.map(({ id, method, params }) => ({ jsonrpc: "2.0", id, result: results[method]?.(params) })),
  );
}

/** Answers a single call or an array of them, each with its method's name as the result. */
export const echoMethod: StubAnswer = (body) => {
  const request: { id: number; method: string } | { id: number; method: string }[] = JSON.parse(body);
  const one = ({ id, method }: { id: number; method: string }) =>
    `{"jsonrpc":"2.0","id":${id},"result":"${method}"}`;
  return Array.isArray(request) ? `[${request.map(one).join(",")}]` : one(request);
};
