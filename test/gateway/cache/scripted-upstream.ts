import { createCache } from "../../../gateway/cache/cache.ts";
import type { CacheOptions, Source } from "../../../gateway/cache/coalesce.ts";
import type { CallToForward } from "../../../gateway/methods/call.ts";
import { readMethodTable } from "../../../gateway/methods/method-table.ts";
import { atHead } from "../../../gateway/pipeline/stages/at-head.ts";
import type { AnnouncedHead } from "../../../gateway/upstream/announced-head.ts";
import type { Upstream } from "../../../gateway/upstream/upstream.ts";
import {
  type CallOptions,
  ownWholeAnswer,
  type UpstreamResult,
  type WholeAnswer,
} from "../../../gateway/upstream/upstream-result.ts";

const { rules } = readMethodTable(new URL("../../../config/methods.yaml", import.meta.url).pathname);

/** A cache over an upstream that answers when the test says so. */
export function startCache({
  bytesMax = 1_000_000,
  entryBytesMax = 100_000,
}: {
  bytesMax?: number;
  entryBytesMax?: number;
} = {}) {
  let head: AnnouncedHead | undefined = headAt(1000);
  let nowMs = 0;
  const headListeners: (() => void)[] = [];
  const epochListeners: (() => void)[] = [];
  const asked: { call: CallToForward; options: CallOptions; answer: (answer: UpstreamResult) => void }[] = [];

  const upstream: Pick<Upstream, "submit" | "head" | "waitForHead" | "onHead" | "onEpoch"> = {
    head: () => head,
    waitForHead: async () => {},
    submit: (call, options, answer) => void asked.push({ call, options, answer }),
    onHead: (listener) => {
      headListeners.push(() => listener(unused));
      return () => {};
    },
    onEpoch: (listener) => {
      epochListeners.push(() => listener("made anew"));
      return () => {};
    },
  };
  const cache = createCache({
    upstream,
    settings: { bytesMax, entryBytesMax },
    monotonicMs: () => nowMs,
  });

  return {
    cache,
    /** What reached the upstream and was not answered yet, oldest first. */
    asked,
    passTime(ms: number): void {
      nowMs += ms;
    },
    moveHead(number: number): void {
      head = headAt(number);
      for (const listener of headListeners) listener();
    },
    newChain(): void {
      head = undefined;
      for (const listener of epochListeners) listener();
    },
    /** Sends a call as the stages do; `source` is set as soon as the cache has decided. */
    ask(method: string, params: readonly unknown[], changes: Partial<CacheOptions> = {}) {
      const rule = rules.get(method);
      if (rule === undefined) throw new Error(`${method} has no line`);
      const paramsText = cutFrom(body, JSON.stringify(params));
      const call = atHead(
        { idText: "1", kind: "forward", rule, paramsText },
        { head, permissions: ["rpc", "explorer"] },
      );
      if (call.kind === "refused") throw new Error(call.refusal.message);
      const told: { source?: Source } = {};
      const note = (source: Source) => {
        told.source = source;
      };
      let isThere = false;
      const answer = new Promise<UpstreamResult>((resolve) => {
        const options = { group: "k", mayStream: true, head, isFresh: false, note, ...changes };
        cache.submit(call, options, (given) => {
          isThere = true;
          resolve(given);
        });
      });
      return { source: told.source, answer, isThere };
    },
    /** Answers the oldest request, and lets what follows happen. */
    async reply(answer: UpstreamResult): Promise<void> {
      const first = asked.shift();
      if (first === undefined) throw new Error("nothing was asked");
      first.answer(answer);
      await settled();
    },
  };
}

/** As a validator that has the head gives it. */
export function result(text: string, changes: Partial<WholeAnswer> = {}): WholeAnswer {
  return { ...ownWholeAnswer(text), validator: "validator-3", wasAtHead: true, ...changes };
}

export function errorAnswer(code: number): WholeAnswer {
  return { ...result("0"), afterId: `,"error":{"code":${code},"message":"no"}}` };
}

/** The text as a slice of a longer one, as it is cut from a body. */
export function cutFrom(longer: string, text: string): string {
  return Buffer.from(longer + text)
    .toString("latin1")
    .slice(longer.length);
}

const body = "x".repeat(20_000);

/** Whatever follows from what has happened has happened too. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function headAt(number: number): AnnouncedHead {
  const numberText = `"0x${number.toString(16)}"`;
  return { number, bigNumber: BigInt(number), numberText, blockNumber: ownWholeAnswer(numberText) };
}

const unused = {
  number: 0n,
  hash: "",
  parentHash: "",
  block: {},
  numberHex: "0x0",
  epoch: 1,
  skipped: 0n,
};
