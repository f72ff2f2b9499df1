import { createServer } from "node:net";
import t, { type Test } from "tap";
import { runGateway, whenServing, writeConfig } from "../helpers/gateway-process.ts";
import { startRedis } from "../helpers/redis.ts";

t.test("a port that is taken: exit code 1 and a message that names it", async (t) => {
  const redis = await startRedis(t);
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  t.teardown(() => listener.close());
  const address = listener.address();
  const taken = typeof address === "object" && address !== null ? address.port : 0;
  const common = { redisUrl: redis.url, upstream: "http://127.0.0.1:1" };

  const started = async (t: Test, ports: { port?: number; opsPort?: number }) => {
    const gateway = runGateway(t, ["--config", writeConfig(t, { ...common, ...ports })]);
    // One that does not end by itself is ended, and told by its code.
    const timer = setTimeout(() => gateway.kill("SIGKILL"), 10_000);
    const end = await gateway.ended;
    clearTimeout(timer);
    return end;
  };

  t.test("the public one", async (t) => {
    const { code, output } = await started(t, { port: taken });
    t.equal(code, 1);
    t.match(output, `127.0.0.1:${taken} cannot be listened on`);
  });

  t.test("the ops port", async (t) => {
    const { code, output } = await started(t, { opsPort: taken });
    t.equal(code, 1);
    t.match(output, `127.0.0.1:${taken} cannot be listened on`);
  });

  t.test("by another gateway, which goes on alone", async (t) => {
    const first = runGateway(t, ["--config", writeConfig(t, common)]);
    const { port } = await whenServing(first);
    await t.test("the second one", async (t) => {
      const { code, output } = await started(t, { port });
      t.equal(code, 1);
      t.match(output, `127.0.0.1:${port} cannot be listened on`);
    });
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST" });
    t.equal(answer.status, 415);
  });
});
