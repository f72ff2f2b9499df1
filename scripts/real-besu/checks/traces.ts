import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { claimant, funded } from "../accounts.ts";
import type { Verdict } from "../check.ts";
import { type Chain, isMined, isStandIn, nonceOf, send, transfer } from "../transactions.ts";

/** Its constructor answers one byte of code, and a call to it runs that: PUSH1 1, PUSH1 0, MSTORE8, PUSH1 1, PUSH1 0, RETURN. */
const initCode = "0x600160005360016000f3";
const createGas = 200_000n;

/** What its constructor runs, by the Yellow Paper's prices: a first word of memory costs 3 more. */
const constructorSteps: readonly Step[] = [
  { pc: 0, op: "PUSH1", gasCost: 3, depth: 1, stack: [] },
  { pc: 2, op: "PUSH1", gasCost: 3, depth: 1, stack: ["0x1"] },
  { pc: 4, op: "MSTORE8", gasCost: 6, depth: 1, stack: ["0x1", "0x0"] },
  { pc: 5, op: "PUSH1", gasCost: 3, depth: 1, stack: [] },
  { pc: 7, op: "PUSH1", gasCost: 3, depth: 1, stack: ["0x1"] },
  { pc: 9, op: "RETURN", gasCost: 0, depth: 1, stack: ["0x1", "0x0"] },
];

const stepSchema = z.object({
  pc: z.number(),
  op: z.string(),
  gasCost: z.number(),
  depth: z.number(),
  stack: z.array(z.string()),
});
type Step = z.output<typeof stepSchema>;

/** The fields of recordings of Besu 26.8.0: what is missing is a change that clients meet. That of `debug_` was cut, so there may be more. */
const structSchema = z.looseObject({
  gas: z.number(),
  failed: z.boolean(),
  returnValue: z.string(),
  structLogs: z.array(z.looseObject(stepSchema.shape)),
});
const action = z.strictObject({
  ...{ callType: z.literal("call"), from: z.string(), gas: z.string() },
  ...{ input: z.string(), to: z.string(), value: z.string() },
});
const traceSchema = z.strictObject({
  action,
  ...{ blockHash: z.string(), blockNumber: z.number() },
  result: z.strictObject({ gasUsed: z.string(), output: z.string() }),
  ...{ subtraces: z.number(), traceAddress: z.array(z.number()) },
  ...{ transactionHash: z.string(), transactionPosition: z.number(), type: z.literal("call") },
});

/** A transaction that moves value: one call in `trace_`, nothing run in `debug_`, with the fields of our recordings. */
export async function valueTraces(rig: Chain): Promise<Verdict> {
  const value = 7n;
  const hash = await send(rig, await nonceOf(rig), transfer(value));
  await rig.until("a transaction is mined", () => isMined(rig, hash));
  const flat = await rig.gateway("trace_transaction", [hash]);
  const steps = await rig.gateway("debug_traceTransaction", [hash]);
  const wrong = whatDiffersOfValue({ hash, value, flat: flat.result, steps: steps.result });
  const refused = [flat, steps].flatMap(({ error }) => error?.message ?? []);
  if (refused.length > 0 || wrong.length > 0) return { ok: false, seen: [...refused, ...wrong].join("; ") };
  return { ok: true, seen: "one call and nothing run, with the fields that were recorded of Besu 26.8.0" };
}

/** How traces of a transfer differ from recorded ones; empty where they do not. */
export function whatDiffersOfValue({
  hash,
  value,
  flat,
  steps,
}: {
  hash: string;
  value: bigint;
  flat: unknown;
  steps: unknown;
}): string[] {
  const calls = z.array(traceSchema).length(1).safeParse(flat);
  const struct = structSchema.safeParse(steps);
  const wrong = [
    ...problems("trace_transaction", calls.error),
    ...problems("debug_traceTransaction", struct.error),
  ];
  const [call] = calls.data ?? [];
  if (call !== undefined) {
    const { from, to, input, value: moved } = call.action;
    const told = { from, to, input, value: moved, hash: call.transactionHash };
    const expected = {
      from: funded.address.toLowerCase(),
      to: claimant.address.toLowerCase(),
      ...{ input: "0x", value: `0x${value.toString(16)}`, hash },
    };
    if (!isDeepStrictEqual(told, expected)) wrong.push(`trace_transaction says ${JSON.stringify(told)}`);
  }
  // An account without code runs to its end at once; whether that is a step was not recorded.
  const ran = struct.data?.structLogs.some(({ op }) => op !== "STOP");
  if (struct.data?.failed === true || ran === true)
    wrong.push("debug_traceTransaction says that something ran");
  return wrong;
}

/** What runs the EVM: a contract's creation, its code, and each step of its constructor. */
export async function contractAndTraces(rig: Chain): Promise<Verdict> {
  if (await isStandIn(rig))
    return { ok: "not provable", seen: "a stand-in runs no contracts and no traces of them" };
  const created = await send(rig, await nonceOf(rig), { data: initCode, gasLimit: createGas });
  await rig.until("a contract is mined", () => isMined(rig, created));
  const receipt = z
    .object({ contractAddress: z.string() })
    .parse((await rig.gateway("eth_getTransactionReceipt", [created])).result);
  const { result: code } = await rig.gateway("eth_getCode", [receipt.contractAddress, "latest"]);
  const flat = await rig.gateway("trace_transaction", [created]);
  const steps = await rig.gateway("debug_traceTransaction", [created]);
  const differs = whatDiffersOfConstructor(steps.result);
  const wrong = [
    ...(code === "0x01" ? [] : [`its code is ${String(code)}`]),
    ...(flat.error === undefined ? [] : [`trace_transaction: ${flat.error.message}`]),
    ...(steps.error === undefined ? differs : [`debug_traceTransaction: ${steps.error.message}`]),
  ];
  if (wrong.length > 0) return { ok: false, seen: wrong.join("; ") };
  return { ok: true, seen: "its code is 0x01; each of the six steps of its constructor is as reckoned" };
}

/** How a `debug_traceTransaction` of the creation differs from what the EVM has to do; empty where it does not. */
export function whatDiffersOfConstructor(answer: unknown): string[] {
  const read = structSchema.safeParse(answer);
  if (!read.success) return problems("debug_traceTransaction", read.error);
  const steps = read.data.structLogs.map((step) => stepSchema.parse(step));
  if (steps.length !== constructorSteps.length)
    return [`${steps.length} steps were run, and not ${constructorSteps.length}`];
  return steps.flatMap((step, index) =>
    isDeepStrictEqual(step, constructorSteps[index])
      ? []
      : [`step ${index}: ${JSON.stringify(step)}, and not ${JSON.stringify(constructorSteps[index])}`],
  );
}

function problems(method: string, error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map(({ path, message }) => `${method}: ${path.join(".")}: ${message}`);
}
