import { join } from "node:path";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Test } from "tap";
import type { z } from "zod";
import type { CallToForward } from "../../../../gateway/methods/call.ts";
import { readMethodTable } from "../../../../gateway/methods/method-table.ts";
import type { NamedUpstream } from "../../../../gateway/upstream/named-upstreams.ts";
import type { PoolHead } from "../../../../gateway/upstream/pool/choose.ts";
import { poolSettingsSchema } from "../../../../gateway/upstream/pool/pool-settings.ts";
import { isStreamed, type UpstreamResult } from "../../../../gateway/upstream/upstream-result.ts";
import { createValidatorPool, type PoolCallOptions } from "../../../../gateway/upstream/validator-pool.ts";
import { network } from "../../../../lib/network.ts";
import type { StubAnswer } from "../../../fakes/stub-validator.ts";

const methods = readMethodTable(join(import.meta.dirname, "../../../../config/methods.yaml"));

/** A head for which every validator counts, at block 1 000. */
export const anyHead: PoolHead = {
  isEligible: () => true,
  announced: () => ({ number: 1000n, hash: `0x${"ab".repeat(32)}` }),
};

/** A pool that ends with the test. `ask` gives the whole response object with the id 7, as a client would get it. */
export function startPool(
  t: Test,
  urls: readonly string[],
  {
    settings = {},
    head = anyHead,
    more = [],
  }: {
    settings?: z.input<typeof poolSettingsSchema>;
    head?: PoolHead;
    /** Weight and role, by place. */
    more?: readonly Pick<NamedUpstream, "weight" | "role">[];
  } = {},
) {
  const registry = new Registry();
  const pool = createValidatorPool({
    // Their places, so that tests of the pool can tell one by its index.
    upstreams: urls.map((url, index) => ({ name: String(index), url, ...more[index] })),
    settings: poolSettingsSchema.parse(settings),
    chainId: network.chainId,
    head,
    registry,
    logger: pino({ level: "silent" }),
  });
  t.teardown(() => pool.stop());
  const ask = (call: CallToForward, options: PoolCallOptions = {}): Promise<UpstreamResult> =>
    new Promise((resolve) => pool.submit(call, options, resolve));
  return {
    pool: { ...pool, ask },
    registry,
    async ask(
      method: string,
      params: readonly unknown[] = [],
      options: PoolCallOptions = {},
    ): Promise<string> {
      const answer = await ask(callTo(method, params), options);
      if (typeof answer !== "string" && isStreamed(answer)) throw new Error("no stream was asked for");
      return typeof answer === "string" ? answer : `${answer.beforeId}7${answer.afterId}`;
    },
    async result(method: string, params: readonly unknown[] = []): Promise<unknown> {
      const answer = await ask(callTo(method, params));
      if (typeof answer === "string" || isStreamed(answer)) return answer;
      const text = Buffer.from(`${answer.beforeId}7${answer.afterId}`, "latin1").toString();
      const response: { result?: unknown; error?: unknown } = JSON.parse(text);
      return response.error ?? response.result;
    },
    validator(index: number) {
      const status = pool.status().validators[index];
      if (status === undefined) throw new Error(`no validator ${index}`);
      return status;
    },
  };
}

/** A call as the stages before hand it on, by the rules of `config/methods.yaml`. */
export function callTo(
  method: string,
  params: readonly unknown[] = [],
  changes: Partial<CallToForward["rule"]> = {},
): CallToForward {
  const rule = methods.rules.get(method);
  if (rule === undefined) throw new Error(`${method} is not in the table`);
  const paramsText = Buffer.from(JSON.stringify(params)).toString("latin1");
  return { kind: "forward", rule: { ...rule, ...changes }, paramsText };
}

export type StubCall = { id: number; method: string; params: unknown[] };

/** What a body asks, and whether as an array. */
export function callsOf(body: string): { calls: StubCall[]; isArray: boolean } {
  const parsed: StubCall | StubCall[] = JSON.parse(body);
  return Array.isArray(parsed) ? { calls: parsed, isArray: true } : { calls: [parsed], isArray: false };
}

/** Answers each call with the JSON text that `result` gives for it, in the form of validators. */
export function answering(result: (call: StubCall) => string): StubAnswer {
  return (body) => {
    const { calls, isArray } = callsOf(body);
    const texts = calls.map((call) => `{"jsonrpc":"2.0","id":${call.id},"result":${result(call)}}`);
    return isArray ? `[${texts.join(",")}]` : texts.join("");
  };
}

/** Answers with the call's first parameter. */
export const echo = answering(({ params }) => JSON.stringify(params[0] ?? null));

/** Holds answers back until they are let go. */
export function createGate(answer: StubAnswer) {
  let open = () => {};
  let opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const gated: StubAnswer = async (body, response, request) => {
    await opened;
    return answer(body, response, request);
  };
  return {
    answer: gated,
    open: () => open(),
    close() {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
  };
}
