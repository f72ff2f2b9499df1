import cluster from "node:cluster";
import { createServer } from "node:http";
import { App, sharedPort } from "../../../gateway/server/uws.ts";
import { isSpreadKind, type SpreadKind } from "./kinds.ts";

/*
 * Workers behind one port of 127.0.0.1, each of which answers with its number:
 *
 *   node scripts/bench/spread/server.ts KIND WORKERS PORT
 *
 * Once all listen, a line says so. They end with their primary.
 */

const [kind, workers, port] = process.argv.slice(2);
if (!isSpreadKind(kind)) throw new Error(`a kind was expected, not "${kind}"`);
if (cluster.isPrimary) startWorkers(kind, Number(workers));
else serve(kind, Number(port));

function startWorkers(wanted: SpreadKind, count: number): void {
  cluster.schedulingPolicy = wanted === "handed over" ? cluster.SCHED_RR : cluster.SCHED_NONE;
  let up = 0;
  cluster.on("message", () => {
    up += 1;
    if (up === count) process.stdout.write("listening\n");
  });
  for (let index = 0; index < count; index += 1) cluster.fork();
}

function serve(wanted: SpreadKind, at: number): void {
  const name = String(cluster.worker?.id);
  const up = () => void process.send?.("up");
  if (wanted === "own listeners") {
    App()
      .get("/*", (response) => void response.end(name))
      .listen("127.0.0.1", at, sharedPort, (socket) => {
        if (socket === false) throw new Error(`port ${at} is taken`);
        up();
      });
  } else {
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
      response.setHeader("Content-Length", name.length).end(name);
    });
    server.listen({ host: "127.0.0.1", port: at, backlog: 2048 }, up);
  }
}
