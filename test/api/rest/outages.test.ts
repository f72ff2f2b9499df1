import { pino } from "pino";
import t, { type Test } from "tap";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { apiMigrations, startPostgres } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { problem, wordsOfLibraries } from "../support/problem.ts";
import { type Answer, startApi } from "../support/start-api.ts";

const [redis, anvil, postgres] = await Promise.all([startRedis(t), startAnvil(t), startPostgres(t)]);
await migrate({ url: postgres.url, folder: apiMigrations, logger: pino({ level: "silent" }) });
await anvil.rpc("anvil_mine", ["0x3"]);
const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const hash = String(await anvil.rpc("eth_sendTransaction", [{ from: alice, to: alice, value: "0x1" }]));
const api = await startApi(t, {
  ...{ redisUrl: redis.url, upstream: anvil.url, postgresUrl: postgres.url },
  change: (config) => ({
    ...config,
    limits: { points: 1000, windowSeconds: 60 },
    redisCommandTimeoutMs: 300,
  }),
});
const readiness = async () => {
  const response = await fetch(`${api.opsUrl}/readyz`);
  return { status: response.status, text: await response.text() };
};
const isWhole = async () => /"degraded": ?false/.test((await readiness()).text);
await waitFor("the index is whole", async () =>
  (await api.get("/api/v1/blocks?limit=1")).text.includes('"indexedBlock":4'),
);

const single = [
  ...["/api/v1/blocks/1", "/api/v1/blocks/latest", "/api/v1/blocks/2/consensus", "/api/v1/chain"],
  ...[
    `/api/v1/transactions/${hash}`,
    `/api/v1/accounts/${alice}`,
    "/api/v1/search?q=2",
    "/api/v1/openapi.json",
  ],
];
const lists = [
  ...["/api/v1/blocks", "/api/v1/transactions", "/api/v1/blocks/1/transactions", "/api/v1/fees/burns"],
  ...[
    `/api/v1/accounts/${alice}/transactions`,
    `/api/v1/accounts/${alice}/transfers.csv`,
    "/api/v1/stats/gas",
  ],
];

function isAway(t: Test, path: string, answer: Answer) {
  t.match(problem.parse(answer.json), { status: 503, code: "upstream_unavailable" }, path);
  t.equal(answer.headers.get("retry-after"), "1", path);
  t.equal(answer.headers.get("cache-control"), "no-store", path);
  t.notMatch(answer.text, wordsOfLibraries, path);
}

t.test(
  "PostgreSQL away: lists are 503, what the chain says goes on, and its return is noticed",
  async (t) => {
    const { json: before } = await api.get("/api/v1/chain");
    await postgres.stop();
    await waitFor("it is told as degraded", async () => (await readiness()).text.includes("PostgreSQL"));
    t.equal((await readiness()).status, 200);
    await anvil.rpc("evm_mine");
    await waitFor("the head moves on", async () =>
      (await api.get("/api/v1/blocks/latest")).text.includes('"number":5'),
    );
    for (const path of lists) isAway(t, path, await api.get(path));
    for (const path of single) t.equal((await api.get(path)).status, 200, path);
    const { json: now } = await api.get("/api/v1/chain");
    t.match(now, { epoch: Object(before).epoch, indexedBlock: 4 }, "the epoch does not go back");
    t.match((await api.get("/health")).json, {
      status: "degraded",
      checks: { database: { status: "failing" } },
    });
    const line = api.logLines.find((text) => text.includes("refused for what it needs"));
    t.ok(line?.includes("requestId"), "the log says why, and of which request");

    await postgres.restart();
    await waitFor("lists are whole again", async () =>
      (await api.get("/api/v1/blocks?limit=1")).text.includes('"indexedBlock":5'),
    );
    await waitFor("nothing is degraded", isWhole);
  },
);

t.test("Redis away: a tenth of the limit, from memory", async (t) => {
  redis.freeze();
  await waitFor("it is told as degraded", async () => {
    await api.get("/api/v1/blocks/1");
    return (await readiness()).text.includes("Redis");
  });
  const answers = await Promise.all(Array.from({ length: 150 }, () => api.get("/api/v1/blocks/1")));
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  t.ok(answers.filter(({ status }) => status === 200).length <= 100);
  const refused = answers.find(({ status }) => status === 429);
  t.match(refused?.headers.get("ratelimit-policy"), /q=100;/);
  t.ok(problem.parse(refused?.json).requestId);
  t.equal((await readiness()).status, 200);
  redis.thaw();
  await waitFor("limits are shared again", async () => (await api.get("/api/v1/blocks/1")).status === 200);
});

t.test("the chain away: what it has to say is 503, lists go on", async (t) => {
  await anvil.stop();
  await waitFor("it is noticed", async () => (await api.get("/health")).status === 503);
  const ofChain = single.filter((path) => !path.includes("openapi"));
  await waitFor(
    "nothing old is told as new",
    async () => (await api.get("/api/v1/blocks/latest")).status === 503,
  );
  await waitFor(
    "answers of the last head are forgotten",
    async () => (await api.get("/api/v1/chain")).status === 503,
  );
  for (const path of ofChain) {
    await waitFor(`${path} is forgotten`, async () => (await api.get(path)).status === 503);
    isAway(t, path, await api.get(path));
  }
  for (const path of lists) t.equal((await api.get(path)).status, 200, path);
  t.match(await readiness(), { status: 200, text: /the chain does not answer/ });
});
