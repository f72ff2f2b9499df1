import { Redis } from "ioredis";
import { toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { keyBudgetKey } from "../../lib/redis/keys/gateway.ts";
import type { Teardown } from "../../scripts/processes/teardown.ts";
import { startValidators } from "../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, qaKey, startGateway } from "../helpers/gateway.ts";
import { startRedis } from "../helpers/redis.ts";

/** What one client is tested with. Its gateways are its own, so that what they answered was answered to it. */
export type ClientRig = {
  gateway: GatewayUnderTest;
  /** One whose validators do not answer. */
  cutOff: GatewayUnderTest;
  /** A key without a limit that a test could reach. */
  key: string;
  /** An account of its own, with funds. */
  sender: { address: `0x${string}`; privateKey: `0x${string}` };
  /** An address that has nothing. */
  receiver: `0x${string}`;
  /** A key that nobody has used, of `limitedCalls` calls a minute. */
  takeLimitedKey(): LimitedKey;
  /** Calls with it until it has none left. `endsInMs`: its window is then made to end so soon. */
  useUp(key: LimitedKey, options?: { endsInMs?: number }): Promise<void>;
};

export type LimitedKey = { value: string; team: string };

export const limitedCalls = 20;
const limitedKeysMax = 20;

const funds = 10n ** 21n;
/** Many gateways and clients share this test's processors: how soon Redis answers is not what it is about. */
const redisCommandTimeoutMs = 5_000;

/** Validators that answer in Besu's words over one real chain, with a block every half second, for all clients. */
export async function startNetwork(t: Teardown): Promise<{ startRig(): Promise<ClientRig> }> {
  const [redis, validators] = await Promise.all([
    startRedis(t),
    startValidators(t, { count: 2, blockTimeMs: 500 }),
  ]);
  const database = new Redis(redis.url);
  t.teardown(() => database.disconnect());
  const limitedKeys: LimitedKey[] = Array.from({ length: limitedKeysMax }, (_, index) => ({
    value: `test-key-with-a-small-limit-${index}`,
    team: `limited-${index}`,
  }));
  // The same in every gateway: each takes the keys out of Redis that its configuration does not have.
  const configured = limitedKeys.map((key) => ({
    ...key,
    label: "limited",
    permissions: ["rpc" as const],
    limitPerMinute: limitedCalls,
  }));
  const start = (upstreams: readonly string[]) =>
    startGateway(t, {
      redisUrl: redis.url,
      upstreams,
      change: (config) => ({
        ...config,
        redisCommandTimeoutMs,
        keys: [...config.keys, ...configured],
      }),
    });
  const unused = [...limitedKeys];

  return {
    async startRig() {
      const gateway = await start(validators.urls);
      const cutOff = await start(["http://127.0.0.1:9"]);
      const privateKey = generatePrivateKey();
      const address = privateKeyToAddress(privateKey);
      await validators.anvil.ask("anvil_setBalance", [address, toHex(funds)]);
      const post = (key: LimitedKey, calls: number) =>
        gateway.post(
          Array.from({ length: calls }, (_, id) => ({ jsonrpc: "2.0", id, method: "eth_chainId" })),
          { key: key.value },
        );
      return {
        gateway,
        cutOff,
        key: qaKey,
        sender: { address, privateKey },
        receiver: privateKeyToAddress(generatePrivateKey()),
        takeLimitedKey() {
          const key = unused.pop();
          if (key === undefined) throw new Error(`there are ${limitedKeysMax} limited keys`);
          return key;
        },
        async useUp(key, { endsInMs } = {}) {
          // The first call opens the window, unless the test has done so.
          await post(key, 1);
          if (endsInMs !== undefined) {
            const [budget] = await database.keys(keyBudgetKey({ team: key.team, keyId: "*" }));
            if (budget === undefined) throw new Error("the key has no window");
            await database.hset(budget, "e", Date.now() + endsInMs);
          }
          await post(key, limitedCalls + 1);
        },
      };
    },
  };
}
