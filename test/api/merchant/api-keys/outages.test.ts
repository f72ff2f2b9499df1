import { pino } from "pino";
import t from "tap";
import { migrate } from "../../../../lib/postgres/migrate.ts";
import { startAnvil } from "../../../helpers/anvil.ts";
import { apiMigrations, startPostgres } from "../../../helpers/postgres.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { send } from "../support/sign-in.ts";
import {
  askKey,
  buyKey,
  dashboardPath,
  keysPath,
  markPaid,
  newcomer,
  orderKey,
  startShop,
} from "../support/start-shop.ts";

const points = 100;
const clock = { ms: Date.now() };
const [redis, anvil, postgres] = await Promise.all([startRedis(t), startAnvil(t), startPostgres(t)]);
await migrate({ url: postgres.url, folder: apiMigrations, logger: pino({ level: "silent" }) });
const shop = await startShop(t, {
  replicas: 2,
  now: () => clock.ms,
  given: { redisUrl: redis.url, upstream: anvil.url, postgresUrl: postgres.url, anvil },
  change: (config) => ({
    ...config,
    redisCommandTimeoutMs: 300,
    stalledAfterMs: 3_600_000,
    limits: { ...config.limits, points },
  }),
});
const { api, apis, db } = shop;
const [one = api, other = api] = apis;
const { headers } = await newcomer(api);
const [known, revoked] = [await buyKey(shop, headers), await buyKey(shop, headers)];
const ask = (each: typeof api, secret: string) => each.get(dashboardPath, { "X-Api-Key": secret });
const buy = (body: object = { package: "monthly" }) => send(api, keysPath, { headers, body });

function isAway(answer: Awaited<ReturnType<typeof send>>, code = "upstream_unavailable") {
  t.match(problem.parse(answer.json), { status: 503, code }, answer.text);
  t.ok(answer.headers.has("retry-after"));
  t.notMatch(answer.text, wordsOfLibraries);
}

t.test("a stalled chain sells nothing, and what was paid before is handed out", async (t) => {
  const paid = await orderKey(api, headers);
  await markPaid(db, paid.id);
  const unpaid = await orderKey(api, headers);
  clock.ms += 3_700_000;
  isAway(await buy(), "network_stalled");
  isAway(await askKey(api, headers, unpaid.id), "network_stalled");
  t.equal((await askKey(api, headers, paid.id)).status, 201);
  clock.ms -= 3_700_000;
  t.equal((await buy()).status, 402);
});

t.test(
  "Redis away: keys go on with a tenth of their limit, nothing is sold, and what is revoked is refused at once",
  async (t) => {
    const paid = await orderKey(api, headers);
    await markPaid(db, paid.id);
    for (const each of apis) t.equal((await ask(each, revoked.secret)).status, 200);
    await redis.stop();
    await waitFor("they see it", async () => (await buy()).status === 503);
    isAway(await buy());
    isAway(await askKey(api, headers, paid.id));

    const answer = await send(one, `${keysPath}/revoke`, { headers, body: { keyId: revoked.id } });
    isAway(answer);
    t.match(answer.json, { detail: /is revoked/ });
    t.equal((await ask(other, revoked.secret)).status, 401);

    const statuses = [];
    for (let count = 0; count < 15; count += 1) statuses.push((await ask(other, known.secret)).status);
    t.same([...new Set(statuses)].toSorted(), [200, 429]);
    t.ok(statuses.filter((status) => status === 200).length <= points / 10);

    await redis.restart();
    await waitFor("something is sold again", async () => (await buy()).status === 402);
    const again = await send(one, `${keysPath}/revoke`, { headers, body: { keyId: revoked.id } });
    t.match(again.json, { key: { state: "revoked" } });
    t.equal((await ask(other, revoked.secret)).status, 401);
    t.equal((await askKey(api, headers, paid.id)).status, 201, "the paid order kept its value");
  },
);

t.test("PostgreSQL away: nothing is sold, no number is told, and keys come back with it", async () => {
  await postgres.stop();
  isAway(await buy());
  isAway(await api.get(dashboardPath, { "X-Api-Key": known.secret }));
  await postgres.restart();
  await waitFor("keys are known again", async () => (await ask(one, known.secret)).status === 200);
});
