import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";
import type { Teardown } from "../../../../scripts/processes/teardown.ts";

type Asked = { method: string; params: readonly unknown[] };
export type Lie = (call: Asked & { result: unknown }) => unknown;

const call = z.looseObject({ method: z.string(), params: z.array(z.unknown()) });
const answer = z.looseObject({});

/** A node before another one, whose results it changes; `tell` sets how, also with a promise, undefined tells the truth. */
export async function startLyingNode(
  t: Teardown,
  {
    upstream: first,
    onCall = () => {},
  }: { upstream: string /** What it is asked, whatever comes of it. */; onCall?: (call: Asked) => void },
) {
  let upstream = first;
  let lie: Lie | undefined;
  const server = createServer((request, response) => {
    // It has no WebSocket, and says so to whoever asks for one.
    if (request.method !== "POST") return void response.writeHead(404).end();
    void (async () => {
      const body: unknown = await json(request);
      const calls = z.array(call).parse([body].flat());
      calls.forEach(onCall);
      const told = await fetch(upstream, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      const answers = z.array(answer).parse([await told.json()].flat());
      const changed = await Promise.all(
        answers.map(async (given, index) => {
          const asked = calls[index];
          if (asked === undefined || lie === undefined || !("result" in given)) return given;
          return { ...given, result: await lie({ ...asked, result: given["result"] }) };
        }),
      );
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? changed : changed[0]));
      // Where the other one is away, so is this.
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** Before another node from now on. */
    moveTo(url: string): void {
      upstream = url;
    },
    tell(next: Lie | undefined): void {
      lie = next;
    },
  };
}
