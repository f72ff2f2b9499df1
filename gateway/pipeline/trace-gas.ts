import type { Cache } from "../cache/cache.ts";
import type { CacheOptions } from "../cache/coalesce.ts";
import { type Refusal, refusal } from "../json-rpc/refusal.ts";
import type { CallToForward } from "../methods/call.ts";
import type { MethodTable } from "../methods/method-table.ts";
import { tooMuchGas } from "../traces/too-much-gas.ts";
import { classifyResponse } from "../upstream/pool/classify-response.ts";
import { isStreamed, type UpstreamResult } from "../upstream/upstream-result.ts";

export type CheckTraceGas = (call: CallToForward, options: CacheOptions) => Promise<Refusal | undefined>;

/**
 * Makes the check of what was mined before it is traced: the gas that a transaction, a block or a range of blocks has
 * used, from the cache or a validator, each a light call. Only what is there is traced, so that nothing is mined between
 * the look and the trace.
 */
export function createTraceGas({
  cache,
  methods,
  gasMax,
}: {
  cache: Pick<Cache, "submit">;
  methods: Pick<MethodTable, "rules">;
  gasMax: number;
}): CheckTraceGas {
  /** A result as JSON; `null` where there is none, undefined where nobody tells. */
  function ask(method: string, params: readonly unknown[], options: CacheOptions): Promise<unknown> {
    const rule = methods.rules.get(method);
    if (rule === undefined) return Promise.resolve(undefined);
    // Named by hash or number, and mined: it never changes.
    const call: CallToForward = { kind: "forward", rule, paramsText: JSON.stringify(params), about: "fixed" };
    const { group, head, isFresh } = options;
    return new Promise((resolve) => {
      cache.submit(call, { group, head, isFresh, mayStream: false }, (answer) => resolve(resultOf(answer)));
    });
  }

  async function gasOfRange(filter: unknown, options: CacheOptions): Promise<number | Refusal> {
    const { blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>> = { ...Object(filter) };
    if (typeof blockHash === "string") return gasOfBlock(blockHash, options);
    if (!isNumber(fromBlock) || !isNumber(toBlock)) return notNamed;
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    if (blocks <= 0) return 0;
    const [history, last] = await Promise.all([
      ask("eth_feeHistory", [`0x${blocks.toString(16)}`, toBlock, []], options),
      ask("eth_getBlockByNumber", [toBlock, false], options),
    ]);
    if (last === null || history === null) return notThere;
    const ratios: unknown = memberOf(history, "gasUsedRatio");
    const gasLimit = hexOf(memberOf(last, "gasLimit"));
    if (!Array.isArray(ratios) || ratios.length < blocks || gasLimit === undefined) return notTold;
    const gas = ratios.reduce((sum: number, ratio: unknown) => sum + Number(ratio), 0) * gasLimit;
    return Number.isFinite(gas) ? Math.ceil(gas) : notTold;
  }

  async function gasOfBlock(block: unknown, options: CacheOptions): Promise<number | Refusal> {
    if (isHash(block)) return used(await ask("eth_getBlockByHash", [block, false], options));
    if (isNumber(block)) return used(await ask("eth_getBlockByNumber", [block, false], options));
    return notNamed;
  }

  async function gasOf(
    { rule, paramsText }: CallToForward,
    options: CacheOptions,
  ): Promise<number | Refusal> {
    const params: unknown = JSON.parse(Buffer.from(paramsText, "latin1").toString("utf8"));
    const first: unknown = Array.isArray(params) ? params[0] : undefined;
    switch (rule.trace) {
      case "transaction":
        return isHash(first) ? used(await ask("eth_getTransactionReceipt", [first], options)) : notHash;
      case "block":
        return gasOfBlock(first, options);
      case "range":
        return gasOfRange(first, options);
      default:
        return 0;
    }
  }

  return async function checkTraceGas(call, options) {
    const gas = await gasOf(call, options);
    if (typeof gas !== "number") return gas;
    return gas > gasMax ? tooMuchGas(gas, gasMax) : undefined;
  };
}

function resultOf(answer: UpstreamResult): unknown {
  if (typeof answer === "string" || isStreamed(answer)) return undefined;
  const { kind } = classifyResponse(answer);
  if (kind !== "value") return kind === "null" ? null : undefined;
  const response: unknown = JSON.parse(
    Buffer.from(`${answer.beforeId}0${answer.afterId}`, "latin1").toString("utf8"),
  );
  return memberOf(response, "result");
}

function used(result: unknown): number | Refusal {
  if (result === null) return notThere;
  return hexOf(memberOf(result, "gasUsed")) ?? notTold;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}

function hexOf(value: unknown): number | undefined {
  return isNumber(value) ? Number(value) : undefined;
}

function isNumber(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(value);
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value);
}

const notHash = refusal("invalid_params", "The first parameter must be a transaction's hash");
const notNamed = refusal("invalid_params", "Name a mined block by its number or hash");
const notThere = refusal("invalid_params", "Not found: only mined transactions and blocks can be traced");
const notTold = refusal(
  "upstream_unavailable",
  "The gas of this trace could not be looked up; try again shortly",
);
