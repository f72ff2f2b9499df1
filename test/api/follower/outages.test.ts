import { pino } from "pino";
import { test } from "tap";
import type { GatewayConfig } from "../../../gateway/config.ts";
import { migrate } from "../../../lib/postgres/migrate.ts";
import { reservePort } from "../../../scripts/processes/reserved-port.ts";
import { startOwnFollower } from "../../../scripts/soak/follower-crashes/own-follower.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { coreKey, startGateway } from "../../helpers/gateway.ts";
import { apiMigrations, createDatabase, startPostgres } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

const silent = pino({ level: "silent" });

test("PostgreSQL goes away and comes back: the follower goes on where it was", async (t) => {
  const [anvil, postgres] = await Promise.all([startAnvil(t), startPostgres(t)]);
  await migrate({ url: postgres.url, folder: apiMigrations, logger: silent });
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl: postgres.url });
  await anvil.rpc("evm_mine");
  await follower.indexed(1);

  await postgres.stop();
  await waitFor("it knows that PostgreSQL is away", () => !follower.standing().isConnected);
  t.match(follower.standing(), { isLeader: false, next: 2, epoch: 1 });
  await anvil.rpc("anvil_mine", ["0x5"]);
  await waitFor("it knows how far it is behind", () => follower.standing().behindBlocks === 5);

  await postgres.restart();
  await follower.indexed(6);
  t.match(follower.standing(), { isLeader: true, isConnected: true, behindBlocks: 0 });
});

test("before the migrations there is nothing to write to, and the follower waits", async (t) => {
  const [anvil, postgresUrl] = await Promise.all([startAnvil(t), createDatabase(t, { migrations: "none" })]);
  const follower = await startOwnFollower(t, { url: anvil.url, postgresUrl });
  await waitFor("it says so", () => follower.logLines.some((line) => line.includes("cannot be asked")));
  await migrate({ url: postgresUrl, folder: apiMigrations, logger: silent });
  await follower.indexed(0);
});

test("through the gateway: heads come by WebSocket, and the gateway may go away", async (t) => {
  const [anvil, redis, postgresUrl] = await Promise.all([startAnvil(t), startRedis(t), createDatabase(t)]);
  const port = await reservePort();
  const options = {
    redisUrl: redis.url,
    upstreams: [anvil.url],
    change: (config: GatewayConfig) => ({ ...config, port }),
  };
  const gateway = await startGateway(t, options);
  const headers = { "X-API-Key": coreKey };
  const follower = await startOwnFollower(t, {
    url: gateway.url,
    headers,
    webSocketUrl: gateway.url.replace("http", "ws"),
    postgresUrl,
    // Only the socket is quick enough.
    headPollMs: 600_000,
    pollMs: 600_000,
  });
  await follower.indexed(0);
  const heads: number[] = [];
  follower.heads.onHead(({ number }) => heads.push(number));
  await waitFor(
    "the gateway tells of heads",
    async () => {
      await anvil.rpc("evm_mine");
      return heads.length > 0;
    },
    { everyMs: 200 },
  );
  await waitFor(
    "the index follows",
    () => follower.standing().next === (follower.heads.head()?.number ?? 0) + 1,
  );

  await gateway.stop();
  await waitFor("it knows that the chain is away", () =>
    follower.logLines.some((line) => line.includes("has ended")),
  );
  await anvil.rpc("anvil_mine", ["0x5"]);
  await startGateway(t, options);
  const height = Number(await anvil.rpc("eth_blockNumber"));
  await waitFor(
    "heads come again",
    async () => {
      await anvil.rpc("evm_mine");
      return (follower.heads.head()?.number ?? 0) > height;
    },
    { everyMs: 200 },
  );
  await waitFor(
    "the index follows",
    () => follower.standing().next === (follower.heads.head()?.number ?? 0) + 1,
  );
  t.equal(follower.standing().behindBlocks, 0);
});
