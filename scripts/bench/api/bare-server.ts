import { fastify } from "fastify";

/** The baseline: Fastify with one handler and nothing else. `node bare-server.ts PORT` */
const app = fastify();
app.get("/", async () => ({ hello: "world" }));
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
