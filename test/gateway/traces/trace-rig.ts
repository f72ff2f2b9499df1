import type { GatewayConfig } from "../../../gateway/config.ts";
import type { Teardown } from "../../../scripts/processes/teardown.ts";
import type { RpcCall } from "../../fakes/validators/besu-framing.ts";
import { startValidators, type Validators } from "../../fakes/validators/start-validators.ts";
import { type GatewayUnderTest, startGateway } from "../../helpers/gateway.ts";
import { startRedis } from "../../helpers/redis.ts";

/** What a real validator of -Xmx512m survived. */
const survivedGas = 5_000_000;

export const account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/** The call of issue 14: a loop, traced to its end. `seed` makes another one of it. */
export function loop(gas: number, seed = 0): [object, string[]] {
  const data = `0x5b600056${seed.toString(16).padStart(8, "0")}`;
  return [{ from: account, data, gas: `0x${gas.toString(16)}` }, ["trace"]];
}

export function callMany(gas: number, seed = 0) {
  return { jsonrpc: "2.0", id: 1, method: "trace_callMany", params: [[loop(gas, seed)], "latest"] };
}

/** Validators that end for good with a trace of much gas, as their memory does, and answer others. */
export async function startMortals(
  t: Teardown,
  { count = 5, gateways: gatewayCount = 2, afterMs = 30, change = (config: GatewayConfig) => config } = {},
) {
  const [redis, cluster] = await Promise.all([startRedis(t), startValidators(t, { count })]);
  await cluster.mine(3);
  const struck = new Set<number>();
  const running = cluster.validators.map(() => 0);
  const seen = { most: 0, bodies: [] as RpcCall[] };
  for (const validator of cluster.validators) {
    validator.dieOf(
      (call) => {
        const isTrace = call.method.startsWith("trace_") || call.method.startsWith("debug_trace");
        if (isTrace) seen.bodies.push(call);
        const isDeadly = isTrace && gasOf(call) > survivedGas;
        if (isDeadly) struck.add(validator.index);
        return isDeadly;
      },
      { afterMs },
    );
    const trace = async () => {
      running[validator.index] = (running[validator.index] ?? 0) + 1;
      seen.most = Math.max(seen.most, running[validator.index] ?? 0);
      // A trace takes a while: those that run at the same time are seen together.
      await new Promise((resolve) => setTimeout(resolve, 20));
      running[validator.index] = (running[validator.index] ?? 0) - 1;
      return { result: '[{"trace":[]}]' };
    };
    for (const method of ["trace_callMany", "trace_call", "debug_traceCall"]) validator.answer(method, trace);
  }
  const gateways: GatewayUnderTest[] = [];
  for (let index = 0; index < gatewayCount; index += 1) {
    gateways.push(await startGateway(t, { redisUrl: redis.url, upstreams: cluster.urls, change }));
  }
  const [gateway] = gateways;
  if (gateway === undefined) throw new Error("at least one gateway was expected");
  return { redis, cluster, gateways, gateway, struck, seen };
}

export type Mortals = Awaited<ReturnType<typeof startMortals>>;
export type { Validators };

/** Lets through what the bounds would refuse, to see what holds beyond them. */
export function unbounded(config: GatewayConfig): GatewayConfig {
  return { ...config, traces: { ...config.traces, gasMax: 1_000_000_000 } };
}

function gasOf({ params }: RpcCall): number {
  return [...JSON.stringify(params).matchAll(/"gas":"(0x[0-9a-f]+)"/g)].reduce(
    (sum, [, gas]) => sum + Number(gas),
    0,
  );
}
