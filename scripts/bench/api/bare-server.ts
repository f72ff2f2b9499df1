import { readFileSync } from "node:fs";
import { fastify } from "fastify";

/** What everything is held against: Fastify with one handler and nothing around it. `node bare-server.ts PORT [PAGE]` */
const [port, pageFile] = process.argv.slice(2);
const app = fastify();
if (pageFile === undefined) app.get("/", async () => ({ hello: "world" }));
else {
  const page = readFileSync(pageFile);
  app.get("/", (_request, reply) => reply.type("text/html; charset=utf-8").send(page));
}
await app.listen({ host: "127.0.0.1", port: Number(port) });
