import t from "tap";
import { startAnvil } from "../../helpers/anvil.ts";
import { coreKey } from "../../helpers/gateway.ts";
import { runGateway, whenServing, writeConfig } from "../../helpers/gateway-process.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";

t.test("a gateway that is killed takes no filter with it: another one goes on", async (t) => {
  const [redis, anvil] = await Promise.all([startRedis(t), startAnvil(t)]);
  const file = writeConfig(t, { redisUrl: redis.url, upstream: anvil.url });
  const gateways = [runGateway(t, ["--config", file]), runGateway(t, ["--config", file])] as const;
  const [killed, other] = gateways;
  const [first, second] = await Promise.all(gateways.map((gateway) => whenServing(gateway)));
  const call = async (port: number | undefined, method: string, params: readonly unknown[] = []) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": coreKey },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result }: { result?: unknown } = JSON.parse(await response.text());
    return result;
  };
  const [blocks, pending] = await Promise.all([
    call(first?.port, "eth_newBlockFilter"),
    call(first?.port, "eth_newPendingTransactionFilter"),
  ]);
  await anvil.rpc("anvil_mine", ["0x3"]);
  killed.kill("SIGKILL");
  await killed.ended;
  const hashes = await Promise.all(
    ["0x1", "0x2", "0x3"].map(async (number) =>
      Reflect.get(Object(await anvil.rpc("eth_getBlockByNumber", [number, false])), "hash"),
    ),
  );
  const told: unknown[] = [];
  await waitFor("three blocks are told", async () => {
    const found = await call(second?.port, "eth_getFilterChanges", [blocks]);
    if (Array.isArray(found)) told.push(...found);
    return told.length >= 3;
  });
  t.same(told, hashes);
  t.same(await call(second?.port, "eth_getFilterChanges", [pending]), []);
  other.kill("SIGTERM");
  t.equal((await other.ended).code, 0);
});
