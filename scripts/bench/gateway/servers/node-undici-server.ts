import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { Pool } from "undici";
import type { ServerSettings } from "../contestants/node-server.ts";

/** The contestant "node-undici": a gateway made from the most common packages. */

const { port, keys, redisUrl, validators }: ServerSettings = JSON.parse(
  readFileSync(process.argv[2] ?? "", "utf8"),
);
const connectionsPerValidator = 32;
const redis = new Redis(redisUrl);
const limiters = new Map<number, RateLimiterRedis>();
for (const points of new Set(keys.map(({ limitPerMinute }) => limitPerMinute))) {
  limiters.set(
    points,
    new RateLimiterRedis({ storeClient: redis, keyPrefix: "bench", points, duration: 60 }),
  );
}
const limiterOf = new Map(keys.map(({ value, limitPerMinute }) => [value, limiters.get(limitPerMinute)]));
const pools = validators.map((url) => new Pool(url, { connections: connectionsPerValidator }));
let next = 0;

createServer((request, response) => {
  answer(request, response).catch(() => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
}).listen(port, "127.0.0.1");

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = request.headers["x-api-key"];
  const limiter = typeof key === "string" ? limiterOf.get(key) : undefined;
  const body = await readBody(request);
  if (typeof key !== "string" || limiter === undefined) {
    response.writeHead(401).end();
    return;
  }
  const calls: unknown = JSON.parse(body.toString());
  const state = await limiter.consume(key, Array.isArray(calls) ? calls.length : 1).catch((refusal) => {
    if (refusal instanceof RateLimiterRes) return refusal;
    throw refusal;
  });
  const seconds = Math.ceil(state.msBeforeNext / 1000);
  response.setHeader("RateLimit", `"default";r=${state.remainingPoints};t=${seconds}`);
  if (state.consumedPoints > limiter.points) {
    response.writeHead(429, { "Retry-After": seconds }).end();
    return;
  }
  next = (next + 1) % pools.length;
  const answered = await pools[next]?.request({
    path: "/",
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const text = Buffer.from((await answered?.body.arrayBuffer()) ?? new ArrayBuffer());
  response.writeHead(answered?.statusCode ?? 502, {
    "Content-Type": "application/json",
    "Content-Length": text.length,
  });
  response.end(text);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
