import { pino } from "pino";
import t from "tap";
import { createRedisClient, waitForRedis } from "../../../lib/redis/redis-client.ts";
import { startRedisServer } from "../../gateway/limits/support/redis-server.ts";
import { startSlowProxy } from "../../gateway/limits/support/slow-proxy.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const commandTimeoutMs = 150;

function createLog() {
  const lines: string[] = [];
  const destination = {
    write(line: string) {
      lines.push(line);
    },
  };
  return { lines, logger: pino({ level: "info" }, destination) };
}

function createClient(url: string, logger = createLog().logger) {
  return createRedisClient({ url, name: "test", logger, commandTimeoutMs, reconnectDelayMaxMs: 100 });
}

async function timed(run: () => Promise<unknown>) {
  const startMs = performance.now();
  const error = await run().then(
    () => undefined,
    (reason: Error) => reason,
  );
  return { error, tookMs: performance.now() - startMs };
}

t.test("commands fail at once without a connection, and work once there is one", async (t) => {
  const server = await startRedisServer(t);
  await server.kill();
  const { logger, lines } = createLog();
  const redis = createClient(server.url, logger);
  t.teardown(() => redis.disconnect());
  const { error, tookMs } = await timed(() => redis.get("a"));
  t.ok(error instanceof Error);
  t.ok(tookMs < 100, `${tookMs} ms`);
  await waitFor("log line", () => lines.length > 0);
  // It tries again all the while.
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(lines.length, 1, "one line for many attempts");

  await server.start();
  await waitForRedis({ redis, logger });
  t.equal(await redis.set("a", "b"), "OK");
});

t.test("a server that does not answer fails commands in time, is left, and found again", async (t) => {
  const server = await startRedisServer(t);
  const redis = createClient(server.url);
  t.teardown(() => redis.disconnect());
  await waitForRedis({ redis, logger: createLog().logger });
  await redis.set("n", "0");
  server.freeze();
  const commands = await Promise.all([timed(() => redis.incr("n")), timed(() => redis.incr("n"))]);
  t.match(commands[0].error, { message: "Redis did not answer within 150 ms" });
  for (const { error, tookMs } of commands) {
    t.ok(error instanceof Error, "the second may fail with the connection");
    t.ok(tookMs > 100 && tookMs < 150 + 250, `${Math.round(tookMs)} ms`);
  }
  await waitFor("the connection is given up", () => redis.status !== "ready");
  const next = await timed(() => redis.incr("n"));
  t.ok(next.error !== undefined && next.tookMs < 150 + 250);
  server.thaw();
  await waitForRedis({ redis, logger: createLog().logger });
  // The two that were sent before may have been carried out once each; nothing was sent again.
  t.ok(Number(await redis.get("n")) <= 2);
});

t.test("late answers go to their own commands", async (t) => {
  const server = await startRedisServer(t);
  const proxy = await startSlowProxy(Number(new URL(server.url).port));
  t.teardown(() => proxy.stop());
  const redis = createClient(proxy.url);
  t.teardown(() => redis.disconnect());
  await waitForRedis({ redis, logger: createLog().logger });
  proxy.setDelayMs(120);
  const late: Promise<unknown>[] = [];
  for (let place = 0; place < 20; place += 1) {
    late.push(redis.echo(`late-${place}`).catch(() => "late"));
    // One after the other, so that some are on their way when the delay grows beyond their time.
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (place === 10) proxy.setDelayMs(200);
  }
  const answers = await Promise.all(late);
  t.ok(answers.includes("late"), "some came too late");
  t.ok(
    answers.every((answer, place) => answer === "late" || answer === `late-${place}`),
    "none belongs to another command",
  );
  proxy.setDelayMs(0);
  await waitFor("fast again", async () => (await redis.echo("now").catch(() => "")) === "now");
});

t.test("an outage leaves no rejection without a handler, also where a subscription was open", async (t) => {
  const server = await startRedisServer(t);
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  t.teardown(() => process.off("unhandledRejection", onUnhandled));
  const { logger } = createLog();
  const subscriber = createClient(server.url, logger);
  const publisher = createClient(server.url, logger);
  t.teardown(() => [subscriber, publisher].map((redis) => redis.disconnect()));
  const messages: string[] = [];
  subscriber.on("message", (_channel, message) => messages.push(message));
  subscriber.on("ready", () => subscriber.subscribe("news").catch(() => {}));
  for (let outage = 0; outage < 3; outage += 1) {
    // Again and again: a server that was stopped counts the connections that were given up meanwhile, for a moment.
    await waitFor("the message", async () => {
      await publisher.publish("news", `after ${outage}`).catch(() => {});
      return messages.includes(`after ${outage}`);
    });
    if (outage === 1) {
      server.freeze();
      await timed(() => subscriber.ping());
      server.thaw();
    } else {
      await server.kill();
      await server.start();
    }
  }
  t.strictSame(unhandled, []);
});
