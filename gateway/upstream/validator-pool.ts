import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { CallToForward } from "../call.ts";
import { verdictOf } from "./pool/answer-verdict.ts";
import { type Ask, type AskOutcome, createAsk, createPlans, type LaneName } from "./pool/ask.ts";
import { createChoose, type PoolHead, tierOf } from "./pool/choose.ts";
import type { ConnectionEvents } from "./pool/connection.ts";
import { createDispatcher } from "./pool/dispatcher.ts";
import { createHealth } from "./pool/health.ts";
import { createHedgeBudget } from "./pool/hedge-budget.ts";
import { createMember, type Member, openConnection, targetOf } from "./pool/member.ts";
import { blockMustExist, saysUnknownBlock } from "./pool/must-exist.ts";
import { createPinger } from "./pool/pinger.ts";
import { isStreamed, type StreamedAnswer, type WholeAnswer } from "./pool/pool-answer.ts";
import { registerPoolMetrics } from "./pool/pool-metrics.ts";
import type { PoolSettings } from "./pool/pool-settings.ts";
import { type PoolStatus, poolStatus } from "./pool/pool-status.ts";
import { pendingCountSender } from "./pool/read-transaction.ts";
import { createSends } from "./pool/sends.ts";
import { createSweep } from "./pool/sweep.ts";

export type AskOptions = {
  /** Whose call it is (the key's id): one key's calls are bounded. */
  group?: string;
  /** The client is gone: nobody waits for the answer any more. */
  signal?: AbortSignal;
  /** Where a call costs more than its method usually does (logs over many blocks). */
  lane?: LaneName;
};

export type ValidatorPool = {
  /**
   * Has a validator answer one call, within the method's time; a read is asked of another where one fails.
   * "unavailable": too many calls wait, or no validator answered. Never throws. With `mayStream` a long answer comes as a
   * stream, which has to be started or aborted.
   */
  ask(
    call: CallToForward,
    options?: AskOptions & { mayStream?: false },
  ): Promise<WholeAnswer | "unavailable">;
  ask(call: CallToForward, options: AskOptions & { mayStream: boolean }): Promise<AskOutcome>;
  status(): PoolStatus;
  /** Whether any validator answers as far as is known. */
  isAnswering(): boolean;
  stop(): Promise<void>;
};

export type { PoolHead, PoolStatus, StreamedAnswer, WholeAnswer };

/** Bits of one number tell which validators a call was put to. */
export const validatorsMax = 30;

/** A block that must exist and that one validator does not have is asked of so many others. */
const behindRetriesMax = 2;

/** Their `null` may mean that only one validator knows of it yet. */
const asksAllBeforeNull = new Set(["eth_getTransactionByHash", "eth_getTransactionReceipt"]);

/**
 * The validators as one: each call goes to whichever is best, in arrays over a few connections, and what one fails
 * another answers.
 * @throws Error for more than `validatorsMax` addresses.
 */
export function createValidatorPool({
  urls,
  settings,
  head,
  registry,
  logger,
  now = () => performance.now(),
  wallClock = Date.now,
}: {
  urls: readonly string[];
  settings: PoolSettings;
  head: PoolHead;
  registry: Registry;
  logger: Logger;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Milliseconds since the epoch, for what people read. */
  wallClock?: () => number;
}): ValidatorPool {
  if (urls.length > validatorsMax) throw new Error(`at most ${validatorsMax} validators can be asked`);
  const takenOut = urls.map(() => new Map<string, number>());
  const members: Member[] = urls.map((url, index) =>
    createMember({ url, index, settings, health: healthOf(url, index) }),
  );
  const open = (member: Member, events: ConnectionEvents) =>
    openConnection({ target: targetOf(urls[member.index] ?? "", settings), settings, now, events });
  const hedges = createHedgeBudget(settings.hedge);
  const choose = createChoose({ members, head });
  const dispatcher = createDispatcher({
    members,
    openConnection: open,
    choose,
    hedges,
    settings,
    logger,
    now,
  });
  const pingers = members.map((member) =>
    createPinger({
      open: (events) => open(member, events),
      timeoutMs: settings.health.pingTimeoutMs,
      now,
      onPinged(failure) {
        if (failure === undefined) member.progressAtMs = now();
        member.health.pinged(failure, now());
        dispatcher.flushSoon();
      },
    }),
  );
  const { sweep } = createSweep({ members, pingers, dispatcher, hedges, head, settings, now });
  const sweeping = setInterval(sweep, settings.health.sweepMs);
  sweeping.unref();
  const planOf = createPlans();
  const sends = createSends({ members, head, dispatcher, planOf, remembered: settings.sendsRemembered, now });
  registerPoolMetrics({ registry, members, dispatcher, takenOut });

  function healthOf(url: string, index: number) {
    const validator = new URL(url).host;
    return createHealth({
      settings: settings.health,
      mayTakeOut: () =>
        members.some(
          (other) => other.index !== index && tierOf(other, 0, head) < 3 && !other.health.isSuspect(),
        ),
      onTakenOut(reason) {
        const counts = takenOut[index];
        counts?.set(reason, (counts.get(reason) ?? 0) + 1);
        logger.warn({ validator, reason }, "validator taken out");
        const member = members[index];
        if (member !== undefined) dispatcher.moveAll(member, reason);
      },
      onBack() {
        logger.info({ validator }, "validator is back");
        for (const { latency } of members[index]?.lanes ?? []) latency.reset();
      },
    });
  }

  function askAny(call: CallToForward, options: AskOptions & { mayStream?: boolean }): Promise<AskOutcome> {
    const { rule, paramsText } = call;
    const plan = planOf(rule, options.lane);
    const sender = pendingCountSender(rule.name, paramsText);
    const target = sender === undefined ? undefined : sends.drawn(sender, 0);
    const isDoubted = rule.block !== undefined || asksAllBeforeNull.has(rule.name);
    const { signal } = options;
    return new Promise((resolve) => {
      const ask: Ask = createAsk({
        plan,
        paramsText,
        deadlineMs: now() + rule.timeoutMs,
        group: options.group,
        mayStream: options.mayStream ?? false,
        scope: target === undefined ? "any" : "first",
        target: target?.index ?? -1,
        settle(outcome, settled) {
          signal?.removeEventListener("abort", onAbort);
          if (!isDoubted || outcome === "unavailable" || isStreamed(outcome)) return resolve(outcome);
          resolve(makeSure(outcome, settled));
        },
      });
      const onAbort = () => dispatcher.calls.finish(ask, "unavailable");
      if (signal?.aborted === true) return resolve("unavailable");
      signal?.addEventListener("abort", onAbort, { once: true });
      dispatcher.submit(ask);
    });
  }

  /** An answer that says "nothing there" is checked with others where something may be, or must be. */
  function makeSure(answer: WholeAnswer, ask: Ask): WholeAnswer | Promise<WholeAnswer> {
    const { rule } = ask.plan;
    const verdict = verdictOf(answer);
    if (verdict.kind === "value") return answer;
    if (asksAllBeforeNull.has(rule.name)) return verdict.kind === "null" ? askAllFirst(answer, ask) : answer;
    if (!saysUnknownBlock(verdict)) return answer;
    const number = head.announced()?.number;
    if (!blockMustExist({ rule, paramsText: ask.paramsText, head: number })) return answer;
    return askWhoHasIt(answer, ask);
  }

  async function askAllFirst(answer: WholeAnswer, { plan, paramsText, deadlineMs, askedOf }: Ask) {
    const call = { rule: plan.rule, paramsText, deadlineMs };
    return (await sends.askAll(call, members[askedOf]?.bit ?? 0)) ?? answer;
  }

  async function askWhoHasIt(answer: WholeAnswer, first: Ask): Promise<WholeAnswer> {
    let excluded = 0;
    let { askedOf } = first;
    for (let retry = 0; retry < behindRetriesMax; retry += 1) {
      const behind = members[askedOf];
      if (behind === undefined) return answer;
      behind.stats.failures.behind += 1;
      excluded |= behind.bit;
      const { outcome, ask } = await askOnce(first, excluded);
      if (outcome === "unavailable" || isStreamed(outcome)) return answer;
      if (!saysUnknownBlock(verdictOf(outcome))) return outcome;
      askedOf = ask.askedOf;
    }
    return answer;
  }

  /** Asks whoever is not excluded; nobody a second time. */
  function askOnce(
    { plan, paramsText, deadlineMs }: Ask,
    excluded: number,
  ): Promise<{ outcome: AskOutcome; ask: Ask }> {
    return new Promise((resolve) => {
      const ask = createAsk({
        plan,
        paramsText,
        deadlineMs,
        tried: excluded,
        settle: (outcome, settled) => resolve({ outcome, ask: settled }),
      });
      ask.isSecondRound = true;
      dispatcher.submit(ask);
    });
  }

  function ask(
    call: CallToForward,
    options?: AskOptions & { mayStream?: false },
  ): Promise<WholeAnswer | "unavailable">;
  function ask(call: CallToForward, options: AskOptions & { mayStream: boolean }): Promise<AskOutcome>;
  function ask(call: CallToForward, options: AskOptions & { mayStream?: boolean } = {}): Promise<AskOutcome> {
    if (call.rule.mayAskAgain) return askAny(call, options);
    return sends.send(call, { deadlineMs: now() + call.rule.timeoutMs, group: options.group });
  }

  return {
    ask,
    status: () => poolStatus({ members, dispatcher, wallClock, now }),
    isAnswering: () => members.some(({ health }) => health.state() === "closed" && !health.isSuspect()),
    async stop() {
      clearInterval(sweeping);
      for (const pinger of pingers) pinger.stop();
      dispatcher.stop();
    },
  };
}
