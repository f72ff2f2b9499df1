import { getAddress } from "ethers/address";
import { pino } from "pino";
import t, { type Test } from "tap";
import { migrate } from "../../../../lib/postgres/migrate.ts";
import { contractWalletCode } from "../../../fakes/contract-wallet/contract-wallet-code.ts";
import { startAnvil } from "../../../helpers/anvil.ts";
import { apiMigrations, startPostgres } from "../../../helpers/postgres.ts";
import { startRedis } from "../../../helpers/redis.ts";
import { waitFor } from "../../../helpers/wait-for.ts";
import { problem, wordsOfLibraries } from "../../support/problem.ts";
import { startApi } from "../../support/start-api.ts";
import {
  aliceWallet,
  askNonce,
  messageOf,
  send,
  sessionPath,
  sessionsPath,
  signIn,
} from "../support/sign-in.ts";

const [redis, anvil, postgres] = await Promise.all([startRedis(t), startAnvil(t), startPostgres(t)]);
await migrate({ url: postgres.url, folder: apiMigrations, logger: pino({ level: "silent" }) });
const api = await startApi(t, {
  ...{ redisUrl: redis.url, upstream: anvil.url, postgresUrl: postgres.url },
  change: (config) => ({ ...config, redisCommandTimeoutMs: 300 }),
});
const { bearer } = await signIn(api);
const contract = getAddress(`0x${"c0".repeat(20)}`);
await anvil.rpc("anvil_setCode", [contract, contractWalletCode({ owner: aliceWallet.address })]);

function isAway(t: Test, answer: Awaited<ReturnType<typeof send>>) {
  t.match(problem.parse(answer.json), { status: 503, code: "upstream_unavailable" });
  t.ok(answer.headers.has("retry-after"));
  t.notMatch(answer.text, wordsOfLibraries);
}
const offer = async (message: string) =>
  send(api, sessionPath, { body: { message, signature: await aliceWallet.signMessage(message) } });

t.test("PostgreSQL away: no session is known, none is opened, and it comes back", async (t) => {
  const nonce = await askNonce(api);
  await postgres.stop();
  isAway(t, await api.get(sessionPath, bearer));
  isAway(t, await send(api, sessionsPath, { method: "DELETE", headers: bearer }));
  isAway(t, await offer(messageOf(nonce, { address: aliceWallet.address })));
  t.equal((await api.get(sessionPath)).status, 401, "who has no token is told so");
  await postgres.restart();
  await waitFor(
    "the session is known again",
    async () => (await api.get(sessionPath, bearer)).status === 200,
  );
});

t.test("the chain away: a key signs in, a contract wallet is told to wait", async (t) => {
  const [mine, contracts] = [await askNonce(api), await askNonce(api)];
  await anvil.stop();
  t.equal((await offer(messageOf(mine, { address: aliceWallet.address }))).status, 201);
  isAway(t, await offer(messageOf(contracts, { address: contract })));
});

t.test("Redis away: nobody signs in, and sessions go on", async (t) => {
  const nonce = await askNonce(api);
  redis.freeze();
  t.teardown(() => redis.thaw());
  for (let times = 0; times < 3; times += 1) {
    isAway(t, await send(api, `${sessionPath}/nonce`, { body: {} }));
    isAway(t, await offer(messageOf(nonce, { address: aliceWallet.address })));
    t.equal((await api.get(sessionPath, bearer)).status, 200);
  }
  redis.thaw();
  await waitFor(
    "nonces are there again",
    async () => (await send(api, `${sessionPath}/nonce`, { body: {} })).status === 200,
  );
});
