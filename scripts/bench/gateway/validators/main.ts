import { App, exclusivePort, type HttpResponse } from "../../../../gateway/server/uws.ts";
import { createStubChain } from "./stub-chain.ts";

/*
 * Stub validators over uWebSockets.js, one on each port, so that what is measured is the proxy and not they:
 *
 *   node scripts/bench/gateway/validators/main.ts STARTED_AT_MS PORT...
 *
 * They answer single calls and arrays; GET /counts tells what they were asked. Once all listen, a line says so.
 */

type Call = { id: unknown; method: string; params: unknown[] };

const [startedAt, ...ports] = process.argv.slice(2).map(Number);
const chain = createStubChain({ startedAtMs: startedAt ?? Date.now() });
/** Calls from the proxy's clients. The gateway's own polls all ask for a block, which no workload does. */
const counts = { requests: 0, calls: 0 };

for (const port of ports) await listen(port);
process.stdout.write("listening\n");

function listen(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    App()
      .post("/*", answerPost)
      .get("/counts", (res) => void res.end(JSON.stringify(counts)))
      .listen("127.0.0.1", port, exclusivePort, (socket) => {
        if (socket === false) reject(new Error(`port ${port} is taken`));
        else resolve();
      });
  });
}

function answerPost(res: HttpResponse): void {
  let isGone = false;
  let before: Buffer | undefined;
  res.onAborted(() => {
    isGone = true;
  });
  res.onData((chunk, isLast) => {
    const piece = Buffer.from(chunk);
    const body = before === undefined ? piece : Buffer.concat([before, piece]);
    // The library reuses a piece's memory when this callback returns.
    if (!isLast) before = Buffer.from(body);
    else if (!isGone) res.writeHeader("Content-Type", "application/json").end(answerBody(body.toString()));
  });
}

function answerBody(body: string): string {
  const request: Call | Call[] = JSON.parse(body);
  const calls = Array.isArray(request) ? request : [request];
  if (!calls.some(({ method }) => method === "eth_getBlockByNumber")) {
    counts.requests += 1;
    counts.calls += calls.length;
  }
  return Array.isArray(request) ? `[${request.map(answer).join(",")}]` : answer(request);
}

function answer({ id, method, params }: Call): string {
  const result = chain.resultOf(method, params);
  const outcome =
    result === undefined
      ? '"error":{"code":-32601,"message":"Method not found"}'
      : `"result":${JSON.stringify(result)}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`;
}
