import type { Dispatcher } from "../drive/dispatcher.ts";
import type { Recorder } from "../record/recorder.ts";
import { compileBatch, compileSingle, type RequestMaker } from "./compile-request.ts";
import type { Mix, MixItem, MixStep, SendFields } from "./mix-schema.ts";
import type { Script } from "./script.ts";
import type { SendTransaction } from "./send-transaction.ts";
import { findPlaceholders, type Scope } from "./template.ts";

/** The outcome of a step: its result for `save`, or why there is none. */
type Ended = { result: unknown } | "failed" | "no value";
type Step = (scope: Scope, intendedMs: number) => Promise<Ended>;

/**
 * Makes the scripts of a mix. `pick` gives one of them by the items' weights.
 *
 * `leftOut` names the items that need a placeholder which has no value on this chain, as `$transactionHash` where recent
 * blocks hold none: they take no part, and the report says so.
 */
export function compileMix({
  mix,
  scope,
  dispatcher,
  recorder,
  sendTransaction,
  random,
  now,
}: {
  mix: Mix;
  /** What the placeholders of the table stand for. */
  scope: Scope;
  dispatcher: Pick<Dispatcher, "request">;
  recorder: Pick<Recorder, "endedEarly">;
  sendTransaction: SendTransaction;
  random: () => number;
  now: () => number;
}): { pick: () => Script; leftOut: readonly { item: string; placeholder: string }[] } {
  let lastId = 0;
  const nextId = () => {
    lastId += 1;
    return lastId;
  };
  const request =
    (make: RequestMaker, tag: string | undefined): Step =>
    async (stepScope, intendedMs) => {
      const made = make(stepScope);
      if (made === undefined) return "no value";
      const outcome = await dispatcher.request(tag === undefined ? made : { ...made, tag }, intendedMs);
      if (!outcome.ok) return "failed";
      return { result: made.isBatch ? outcome.results : outcome.results[0] };
    };
  const send =
    (fields: SendFields, tag: string | undefined): Step =>
    async (stepScope, intendedMs) =>
      sendTransaction(fields, stepScope, intendedMs, tag);
  const compileStep = (fields: MixItem | MixStep, name: string, tag: string | undefined): Step => {
    if (fields.send !== undefined) return send(fields.send, tag);
    if (fields.batch !== undefined) return request(compileBatch(name, fields.batch, nextId), tag);
    return request(compileSingle({ ...fields, call: fields.call ?? "" }, nextId), tag);
  };

  function compileItem(item: MixItem): Script {
    const name = nameOf(item);
    const { tag } = item;
    if (item.sequence === undefined) {
      const step = compileStep(item, name, tag);
      return {
        name,
        tag,
        calls: item.batch?.length ?? 1,
        async run(intendedMs) {
          if ((await step(scope, intendedMs)) === "no value") recorder.endedEarly(name, 1);
        },
      };
    }
    const steps = item.sequence.map((fields, index) => ({
      save: fields.save,
      run: compileStep(fields, `${name}, step ${index + 1}`, tag),
    }));
    return {
      name,
      tag,
      calls: item.sequence[0]?.batch?.length ?? 1,
      async run(intendedMs) {
        const saved = new Map<string, unknown>();
        const stepScope: Scope = (word) => (saved.has(word) ? saved.get(word) : scope(word));
        let dueMs = intendedMs;
        for (const [index, step] of steps.entries()) {
          const ended = await step.run(stepScope, dueMs);
          if (typeof ended === "string") {
            recorder.endedEarly(name, index + 1);
            return;
          }
          if (step.save !== undefined) saved.set(step.save, ended.result);
          dueMs = now();
        }
      },
    };
  }

  const items = mix.items.map((item) => ({ item, missing: findMissing(item, scope) }));
  const scripts = items.flatMap(({ item, missing }) =>
    missing === undefined ? [{ weight: item.weight, script: compileItem(item) }] : [],
  );
  return {
    pick: createPick(scripts, random),
    leftOut: items.flatMap(({ item, missing }) =>
      missing === undefined ? [] : [{ item: nameOf(item), placeholder: missing }],
    ),
  };
}

/** What an item is called in reports. */
function nameOf({ name, call }: MixItem): string {
  return name ?? call ?? "send";
}

/** A placeholder of the table that has no value at the start. Values that steps save are known only later. */
function findMissing(item: MixItem, scope: Scope): string | undefined {
  const steps = item.sequence ?? [item];
  const saved = new Set(item.sequence?.map(({ save }) => save));
  return steps
    .flatMap(({ params, batch, send }) => findPlaceholders({ params, batch, send }))
    .map(({ placeholder }) => placeholder.name)
    .find((name) => !saved.has(name) && scope(name) === undefined);
}

function createPick(
  scripts: readonly { weight: number; script: Script }[],
  random: () => number,
): () => Script {
  const total = scripts.reduce((sum, { weight }) => sum + weight, 0);
  return () => {
    let left = random() * total;
    for (const { weight, script } of scripts) {
      left -= weight;
      if (left < 0) return script;
    }
    const last = scripts.at(-1);
    if (last === undefined) throw new Error("the mix has no item that can run");
    return last.script;
  };
}
