import { createServer } from "node:http";
import { z } from "zod";

/*
 * Receivers of webhooks in a process of their own, so that what they cost is not counted: by their path they answer at once, hang, or
 * fail. `GET /` says how many different events each has got, and how many requests.
 */

const counts = new Map<string, { requests: number; ids: Set<string> }>();

const server = createServer((request, response) => {
  const path = request.url ?? "";
  if (request.method === "GET") {
    const told = [...counts].map(([at, { requests, ids }]) => [at, { requests, events: ids.size }]);
    response.end(JSON.stringify(Object.fromEntries(told)));
    return;
  }
  const of = counts.get(path) ?? { requests: 0, ids: new Set() };
  counts.set(path, of);
  of.requests += 1;
  request.resume().once("end", () => {
    if (path.startsWith("/hangs")) return;
    if (path.startsWith("/fails")) response.writeHead(500).end();
    else {
      of.ids.add(String(request.headers["webhook-id"]));
      response.writeHead(204).end();
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  process.send?.(z.object({ port: z.int() }).parse(server.address()));
});
process.once("disconnect", () => process.exit());
