import type { ApiConfig } from "../../../api/config.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import { tokenCode } from "../../fakes/token/token-code.ts";
import { abiNumber, abiText, tokenLogs } from "../../fakes/token/token-logs.ts";
import { startAnvil } from "../../helpers/anvil.ts";
import { createDatabase } from "../../helpers/postgres.ts";
import { startRedis } from "../../helpers/redis.ts";
import { waitFor } from "../../helpers/wait-for.ts";
import { startApi } from "./start-api.ts";

export const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
export const bob = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const gold = `0x${"a0".repeat(20)}`;

/** The services that an API stands on, of the test's own. */
export async function startServices(t: Teardown) {
  const [redis, anvil, postgresUrl] = await Promise.all([startRedis(t), startAnvil(t), createDatabase(t)]);
  return { redisUrl: redis.url, upstream: anvil.url, postgresUrl, anvil };
}

/** An API over a chain of three blocks: a payment, a failed creation, a contract, and a transfer of a token. */
export async function startWorld(t: Teardown, change: (config: ApiConfig) => ApiConfig = (config) => config) {
  const { anvil, ...services } = await startServices(t);
  await anvil.rpc("anvil_setCode", [
    gold,
    tokenCode({
      name: { returns: abiText("Gold") },
      symbol: { returns: abiText("=GLD") },
      decimals: { returns: abiNumber(6n) },
    }),
  ]);
  await anvil.rpc("evm_setAutomine", [false]);
  const send = async (fields: object) =>
    String(await anvil.rpc("eth_sendTransaction", [{ from: alice, gas: "0x7a120", ...fields }]));
  const payment = await send({ to: bob, value: "0xde0b6b3a7640000" });
  const failed = await send({ data: "0x5f5ffd" });
  const creation = await send({ data: "0x00" });
  await anvil.rpc("evm_mine");
  const transfer = await send({ to: gold, data: tokenLogs.erc20(alice, bob, 5n) });
  await anvil.rpc("evm_mine");
  const api = await startApi(t, { ...services, change });
  await waitFor("the index has block 2", async () =>
    (await api.get("/api/v1/blocks?limit=1")).text.includes('"indexedBlock":2'),
  );
  return { api, anvil, services, hashes: { payment, failed, creation, transfer } };
}
