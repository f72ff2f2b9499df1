import t from "tap";
import { startDurableRedis } from "../../scripts/processes/durable-redis.ts";
import { startOwnPostgres } from "../../scripts/processes/own-postgres.ts";
import { runMerchantCrashes } from "../../scripts/soak/merchant-crashes/run-merchant-crashes.ts";
import { previousVersion } from "./previous-version.ts";

t.setTimeout(600_000);

t.test(
  "an api of the version before and one of this over this version's schema, killed anywhere: each order is booked once, each paid key issued once, each payment told of once",
  async (t) => {
    const before = await previousVersion(t);
    if (before === undefined) return;
    const main = "scripts/soak/merchant-crashes/crash-main.ts";
    const programs = [before.file(main), new URL(`../../${main}`, import.meta.url)];
    const [postgres, redis] = await Promise.all([startOwnPostgres(t), startDurableRedis(t)]);
    const findings = await runMerchantCrashes(t, { seed: 101, postgres, redis, programs });
    const { faults, broken, orders, keys, webhooks } = findings;
    t.same(broken, [], faults.join(", "));
    t.ok(
      orders > 0 && keys > 0 && webhooks.events > 0,
      `${orders} orders, ${keys} keys, ${webhooks.events} events`,
    );
  },
);
