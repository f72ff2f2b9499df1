import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server } from "node:net";
import type { Teardown } from "../../../scripts/processes/teardown.ts";

export type StubCall = { id: number; method: string; params: unknown[] };

/** Writes the answer, or gives the text of a 200. */
export type StubHandler = (
  calls: StubCall[],
  exchange: { request: IncomingMessage; response: ServerResponse; isBatch: boolean },
) => string | undefined | Promise<string | undefined>;

export type StubGateway = {
  url: string;
  /** Bodies of the load, in order; what is asked beside it is not among them. */
  bodies: string[];
  stop(): Promise<void>;
};

/** A gateway of a few lines that answers `eth_chainId` by itself and leaves the rest to a handler. */
export async function startStubGateway(t: Teardown, handle: StubHandler = answerAll): Promise<StubGateway> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const json: StubCall | StubCall[] = JSON.parse(body);
      const calls = Array.isArray(json) ? json : [json];
      if (calls[0]?.method === "eth_chainId") {
        response.end(result(calls[0], "0x228d"));
        return;
      }
      bodies.push(body);
      const text = await handle(calls, { request, response, isBatch: Array.isArray(json) });
      if (text !== undefined) response.writeHead(200, { "Content-Type": "application/json" }).end(text);
    });
  });
  const port = await listen(server);
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(stop);
  return { url: `http://127.0.0.1:${port}`, bodies, stop };
}

/** Every call right away, with a quantity. */
export const answerAll: StubHandler = (calls, { isBatch }) => {
  const answers = calls.map((call) => result(call, "0x1"));
  return isBatch ? `[${answers.join(",")}]` : answers[0];
};

export function result({ id }: Pick<StubCall, "id">, value: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: value });
}

/** Opens a free loopback port and gives it. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}
