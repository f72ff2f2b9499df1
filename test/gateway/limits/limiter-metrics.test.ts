import { Registry } from "prom-client";
import t from "tap";
import { registerLimiterMetrics } from "../../../gateway/limits/limiter-metrics.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startRedisServer } from "./support/redis-server.ts";
import { chargeAtOnce, startLimiter } from "./support/start-limiter.ts";

const server = await startRedisServer(t);

t.test("counters and state are those of the limiter when asked", async (t) => {
  const { limiter, stop } = await startLimiter({ url: server.url });
  t.teardown(stop);
  const registry = new Registry();
  registerLimiterMetrics({ registry, limiter });
  await chargeAtOnce(limiter, { keyId: "key", team: "partner", limitPerMinute: 10 }, 15);
  for (let scrape = 0; scrape < 2; scrape += 1) {
    const text = await registry.metrics();
    t.match(text, "tollgate_limits_degraded 0");
    t.match(text, "tollgate_limits_leases 0");
    t.match(text, 'tollgate_limits_redis_commands_total{script="take"} 1');
    t.match(text, 'tollgate_limits_redis_commands_total{script="give_back"} 0');
    t.match(text, 'tollgate_limits_calls_total{decided_by="redis"} 15');
    t.match(text, "tollgate_limits_refused_total 5");
  }
  await server.kill();
  await waitFor("degraded", () => !limiter.state().answers);
  t.match(await registry.metrics(), "tollgate_limits_degraded 1");
});
