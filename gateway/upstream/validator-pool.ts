import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createReceiveBudget, type ReceiveBudget } from "../answer-budget/receive-budget.ts";
import type { CallToForward } from "../methods/call.ts";
import type { NamedUpstream } from "./named-upstreams.ts";
import { createAskInTurn } from "./pool/ask-in-turn.ts";
import { createChoose, type PoolHead, tierOf } from "./pool/choose.ts";
import type { ConnectionEvents, FailureReason } from "./pool/connection.ts";
import { createDispatcher } from "./pool/dispatcher.ts";
import { createHealth } from "./pool/health.ts";
import { createHedgeBudget } from "./pool/hedge-budget.ts";
import { slowLane } from "./pool/lanes.ts";
import { createDoubts } from "./pool/null-verification.ts";
import { createDoubtBudget } from "./pool/null-verification-budget.ts";
import { createPinger } from "./pool/pinger.ts";
import type { StreamedAnswer, WholeAnswer } from "./pool/pool-answer.ts";
import { registerPoolMetrics } from "./pool/pool-metrics.ts";
import type { PoolSettings } from "./pool/pool-settings.ts";
import { type PoolStatus, poolStatus } from "./pool/pool-status.ts";
import { pendingCountSender } from "./pool/read-transaction.ts";
import { createSends } from "./pool/sends.ts";
import { createSweep } from "./pool/sweep.ts";
import { type Ask, type AskOutcome, createAsk, createPlans, type Unmet } from "./pool/upstream-call.ts";
import { createMember, type Member, openConnection, targetOf } from "./pool/validator.ts";

export type AskOptions = {
  /** Whose call it is (the key's id): one key's calls are bounded. */
  group?: string;
  /** The client is gone: nobody waits for the answer any more. A transaction goes its way all the same. */
  signal?: AbortSignal;
  /** What is left of the method's time. */
  timeoutMs?: number;
  /** The one validator that it is put to, once, by its place. */
  target?: number;
};

type WholeOptions = AskOptions & { mayStream?: false };
type StreamOptions = AskOptions & { mayStream: boolean };
export type SubmitOptions = Omit<AskOptions, "signal"> & { mayStream?: boolean };

/**
 * Why there is no answer: see `Unmet`. "unsent" also says it of a transaction that has reached no validator. "deadly": it has
 * ended a validator before. "struck": other calls of its key have. "spared": too few validators are healthy to run a
 * trace. "busy": other traces ran all the time.
 */
export type Unanswered = Unmet | "deadly" | "struck" | "spared" | "busy";
export type Settle = (answer: WholeAnswer | StreamedAnswer | Unanswered) => void;

export type ValidatorPool = {
  /**
   * Has a validator answer one call, within the method's time; a read is asked of another where one fails.
   * Never throws. With `mayStream` a long answer comes as a stream, which has to be started or aborted.
   */
  ask(call: CallToForward, options?: WholeOptions): Promise<WholeAnswer | Unanswered>;
  ask(call: CallToForward, options: StreamOptions): Promise<AskOutcome | Unanswered>;
  /**
   * The same for the many: `settle` is called once, perhaps before this returns, and must not throw. A promise a call,
   * and what awaits it, cost as much as everything else that the pool does for it.
   */
  submit(call: CallToForward, options: SubmitOptions, settle: Settle): void;
  status(): PoolStatus;
  /**
   * Which of them may get a call of the slow lane, best first: neither taken out nor, as long as others are not, silent or
   * behind the head.
   */
  healthy(): readonly HealthyValidator[];
  /** Whether any validator answers as far as is known. */
  isAnswering(): boolean;
  /** Settles what is under way as unavailable and closes every connection. */
  /** Settles everything, and takes in nothing more; what is being streamed goes on. */
  settleAll(): void;
  stop(): void;
};

/** `url` without credentials. */
export type HealthyValidator = { index: number; url: string };

export type { PoolHead, PoolStatus, StreamedAnswer, WholeAnswer };

/** Bits of one number tell which validators a call was put to. */
export const validatorsMax = 30;

/**
 * The validators as one: each call goes to whichever is best, in arrays over a few connections, and what one fails
 * another answers.
 * @throws Error for more than `validatorsMax` addresses.
 */
export function createValidatorPool({
  validators,
  settings,
  chainId,
  head,
  registry,
  logger,
  now = () => performance.now(),
  wallClock = Date.now,
}: {
  validators: readonly NamedUpstream[];
  settings: PoolSettings;
  /** Of the network: a transaction of another is nobody's here. */
  chainId: number;
  head: PoolHead;
  registry: Registry;
  logger: Logger;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Milliseconds since the epoch, for what people read. */
  wallClock?: () => number;
}): ValidatorPool {
  const receiving = createReceiveBudget(settings);
  const members = createMembers({
    validators,
    settings,
    receiving,
    head,
    logger,
    onTakenOut: (member, reason) => dispatcher.moveAll(member, reason),
  });
  const open = (member: Member, events: ConnectionEvents) =>
    openConnection({
      target: targetOf(validators[member.index]?.url ?? "", settings),
      settings,
      room: member.room,
      now,
      events,
    });
  const hedges = createHedgeBudget(settings.hedge);
  const choose = createChoose({ members, head });
  const dispatcher = createDispatcher({
    members,
    openConnection: open,
    choose,
    head,
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
  const budget = createDoubtBudget({ perSecondMax: settings.unknownHashesPerSecondMax, now });
  const askInTurn = createAskInTurn({ members, head, dispatcher, budget });
  const sends = createSends({
    members,
    head,
    dispatcher,
    askInTurn,
    planOf,
    remembered: settings.sendsRemembered,
    chainId,
    readingsPerGroupMax: settings.groupMax.light,
    now,
  });
  const makeSure = createDoubts({ members, head, askInTurn, settings, now });
  registerPoolMetrics({ registry, members, dispatcher, receiving });

  /** Gives the call on its way, where it is one that may be given up. */
  function submit(
    { kind, rule, paramsText }: CallToForward,
    { group, timeoutMs = rule.timeoutMs, mayStream = false, target }: SubmitOptions,
    settle: Settle,
  ): Ask | undefined {
    const deadlineMs = now() + timeoutMs;
    if (!rule.mayAskAgain) {
      void sends.send({ kind, rule, paramsText }, { deadlineMs, group }).then(settle);
      return undefined;
    }
    const sender = pendingCountSender(rule.name, paramsText);
    if (sender !== undefined) {
      void sends.askOfSender(sender, { rule, paramsText, deadlineMs, group }).then(settle);
      return undefined;
    }
    const plan = planOf(rule);
    const ask = createAsk({
      plan,
      paramsText,
      deadlineMs,
      group,
      mayStream,
      target,
      settle: makeSure,
      tell: settle,
    });
    dispatcher.submit(ask);
    return ask;
  }

  function ask(call: CallToForward, options?: WholeOptions): Promise<WholeAnswer | Unanswered>;
  function ask(call: CallToForward, options: StreamOptions): Promise<AskOutcome | Unanswered>;
  function ask(
    call: CallToForward,
    options: AskOptions & { mayStream?: boolean } = {},
  ): Promise<AskOutcome | Unanswered> {
    return new Promise((resolve) => {
      const { signal } = options;
      if (signal === undefined || !call.rule.mayAskAgain) return submit(call, options, resolve);
      if (signal.aborted) return resolve("unavailable");
      const giveUp = () => {
        if (asked !== undefined) dispatcher.calls.finish(asked, "unavailable");
      };
      signal.addEventListener("abort", giveUp, { once: true });
      const asked = submit(call, options, (answer) => {
        signal.removeEventListener("abort", giveUp);
        resolve(answer);
      });
    });
  }

  return {
    ask,
    submit(call, options, settle) {
      submit(call, options, settle);
    },
    status: () => poolStatus({ members, dispatcher, wallClock, now }),
    healthy: () =>
      members
        .map((member) => ({ index: member.index, url: member.url, tier: tierOf(member, slowLane, head) }))
        .filter(({ tier }) => tier <= 1)
        .sort((one, other) => one.tier - other.tier),
    isAnswering: () => members.some(({ health }) => health.state() === "closed" && !health.isSuspect()),
    settleAll: dispatcher.settleAll,
    stop() {
      clearInterval(sweeping);
      for (const pinger of pingers) pinger.stop();
      dispatcher.stop();
    },
  };
}

/** Each validator with its health. The last that can be asked is never taken out. */
function createMembers({
  validators,
  settings,
  receiving,
  head,
  logger,
  onTakenOut,
}: {
  validators: readonly NamedUpstream[];
  settings: PoolSettings;
  receiving: ReceiveBudget;
  head: PoolHead;
  logger: Logger;
  onTakenOut: (member: Member, reason: FailureReason) => void;
}): readonly Member[] {
  if (validators.length > validatorsMax) throw new Error(`at most ${validatorsMax} validators can be asked`);
  const members: Member[] = validators.map(({ name, url }, index) => {
    const health = createHealth({
      settings: settings.health,
      mayTakeOut: () => members.some((other) => other !== member && isSound(other)),
      onTakenOut(reason) {
        logger.warn({ validator: name, reason }, "validator taken out");
        onTakenOut(member, reason);
      },
      onBack() {
        logger.info({ validator: name }, "validator is back");
        for (const { latency } of member.lanes) latency.reset();
      },
    });
    const member = createMember({ name, url, index, settings, health, room: receiving.forValidator() });
    return member;
  });
  const isSound = (member: Member) => tierOf(member, 0, head) <= 2 && !member.health.isSuspect();
  return members;
}
