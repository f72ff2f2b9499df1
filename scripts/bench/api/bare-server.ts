import { fastify } from "fastify";

/** What everything is held against: Fastify with one handler and nothing around it. `node bare-server.ts PORT` */
const app = fastify();
app.get("/", async () => ({ hello: "world" }));
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
