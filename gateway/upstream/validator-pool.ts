import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createReceiveBudget } from "../answer-budget/receive-budget.ts";
import type { CallToForward } from "../methods/call.ts";
import type { NamedUpstream } from "./named-upstreams.ts";
import { createAskInTurn } from "./pool/ask-in-turn.ts";
import { createChoose, type PoolHead, tierOf } from "./pool/choose.ts";
import type { ConnectionEvents } from "./pool/connection.ts";
import { createPingers } from "./pool/create-pingers.ts";
import { createValidators, isDrained } from "./pool/create-validators.ts";
import { createDispatcher } from "./pool/dispatcher.ts";
import { createValidatorDraw } from "./pool/draw-validator.ts";
import { createHedgeBudget } from "./pool/hedge-budget.ts";
import { slowLane } from "./pool/lanes.ts";
import { createNullVerification } from "./pool/null-verification.ts";
import { createVerificationBudget } from "./pool/null-verification-budget.ts";
import { registerPoolMetrics } from "./pool/pool-metrics.ts";
import type { PoolSettings } from "./pool/pool-settings.ts";
import { type PoolStatus, poolStatus } from "./pool/pool-status.ts";
import { pendingCountSender } from "./pool/read-transaction.ts";
import { createSends } from "./pool/sends.ts";
import { createSettling } from "./pool/settling.ts";
import { createSweep } from "./pool/sweep.ts";
import { createPlans, createUpstreamCall } from "./pool/upstream-call.ts";
import { openConnection, type Validator } from "./pool/validator.ts";
import type { CallOptions, Settle } from "./upstream-result.ts";

/** `target` is the index of the one validator that gets the call, once. */
export type PoolCallOptions = Partial<CallOptions> & { target?: number };

export type ValidatorPool = {
  /**
   * Has a validator answer one call, within the method's time. A read goes to another validator where one fails. `settle`
   * is called once, perhaps before this returns, and must not throw. With `mayStream` a long answer comes as a stream,
   * which has to be started or aborted.
   *
   * A callback, because a promise a call, and what awaits it, would cost as much as everything else that the pool does.
   */
  submit(call: CallToForward, options: PoolCallOptions, settle: Settle): void;
  /** Why these cannot be the validators now; undefined where they can. */
  problem(next: readonly NamedUpstream[]): string | undefined;
  /**
   * Makes these the validators, by name and address. One that is not among them gets no new calls, answers those that it has,
   * and is let go then.
   */
  configure(next: readonly NamedUpstream[]): void;
  status(): PoolStatus;
  /**
   * The validators that may get a call of the slow lane, best first: neither ejected nor, as long as others are not, silent
   * or behind the head.
   */
  healthy(): readonly HealthyValidator[];
  /** Whether any validator answers as far as is known. */
  isAnswering(): boolean;
  /** Settles everything as unavailable and takes nothing in any more. Streams go on. */
  settleAll(): void;
  /** Does the same and closes every connection. */
  stop(): void;
};

export type ValidatorPoolOptions = {
  upstreams: readonly NamedUpstream[];
  settings: PoolSettings;
  /** Of the network. A transaction of another network is of no sender here. */
  chainId: number;
  head: PoolHead;
  registry: Registry;
  logger: Logger;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Milliseconds since the epoch, for people. */
  wallClock?: () => number;
};

/** `url` without credentials. */
export type HealthyValidator = { index: number; url: string };

/**
 * Several validators as one. Each call goes to the best one, in arrays over a few connections. What one validator fails
 * another one answers.
 * @throws Error for more than 30 addresses.
 */
export function createValidatorPool({
  upstreams,
  settings,
  chainId,
  head,
  registry,
  logger,
  now = () => performance.now(),
  wallClock = Date.now,
}: ValidatorPoolOptions): ValidatorPool {
  const receiving = createReceiveBudget(settings);
  const list = createValidators({
    upstreams,
    settings,
    receiving,
    head,
    logger,
    onEjected: (validator, reason) => dispatcher.moveAll(validator, reason),
  });
  const { validators } = list;
  const open = (validator: Validator, events: ConnectionEvents) =>
    openConnection({ validator, settings, now, events });
  const hedges = createHedgeBudget(settings.hedge);
  const settling = createSettling({ isAnyKnown: () => healthyOf(validators, head).length > 0, now });
  const choose = settling.patiently(createChoose({ validators, head }));
  const dispatcher = createDispatcher({
    validators,
    openConnection: open,
    choose,
    head,
    hedges,
    settings,
    logger,
    now,
  });
  const pingers = createPingers({ open, settings, onPinged: dispatcher.flushSoon, now });
  const { sweep } = createSweep({
    validators,
    pingerOf: pingers.of,
    removeDrained(validator) {
      if (!isDrained(validator, now())) return;
      pingers.remove(validator);
      list.remove(validator);
    },
    dispatcher,
    hedges,
    head,
    settings,
    now,
  });
  const sweeping = setInterval(sweep, settings.health.sweepMs).unref();
  const planOf = createPlans();
  const budget = createVerificationBudget({ perSecondMax: settings.unknownHashesPerSecondMax, now });
  const askInTurn = createAskInTurn({ validators, head, dispatcher, budget });
  const sends = createSends({
    validatorCount: () => validators.length,
    validatorDraw: createValidatorDraw({ validators, head, now }),
    dispatcher,
    askInTurn,
    planOf,
    remembered: settings.sendsRemembered,
    chainId,
    readingsPerGroupMax: settings.groupMax.light,
    now,
  });
  const verify = createNullVerification({ validators, head, askInTurn, settings, now });
  const configured = () => validators.filter(({ stay }) => stay === "configured");
  registerPoolMetrics({ registry, validators: configured, dispatcher, receiving });

  return {
    submit(
      { kind, rule, paramsText },
      { group, timeoutMs = rule.timeoutMs, mayStream = false, target },
      settle,
    ) {
      const deadlineMs = now() + timeoutMs;
      if (!rule.mayAskAgain) {
        const send = () => sends.send({ kind, rule, paramsText }, { deadlineMs, group });
        void (settling.isOn() ? settling.untilOver().then(send) : send()).then(settle);
        return;
      }
      const sender = pendingCountSender(rule.name, paramsText);
      if (sender !== undefined) {
        const ask = () => sends.askOfSender(sender, { rule, paramsText, deadlineMs, group });
        void (settling.isOn() ? settling.untilOver().then(ask) : ask()).then(settle);
        return;
      }
      dispatcher.submit(
        createUpstreamCall({
          plan: planOf(rule),
          paramsText,
          deadlineMs,
          group,
          mayStream,
          target,
          settle: verify,
          deliver: settle,
        }),
      );
    },
    problem: list.problem,
    configure(next) {
      list.configure(next);
      settling.begin();
      // What waits has nobody else who would send it.
      void settling.untilOver().then(dispatcher.flushSoon);
    },
    status: () => poolStatus({ validators: configured(), dispatcher, wallClock, now }),
    healthy: () => healthyOf(validators, head),
    isAnswering: () => configured().some(({ health }) => health.state() === "closed" && !health.isSuspect()),
    settleAll: dispatcher.settleAll,
    stop() {
      clearInterval(sweeping);
      pingers.stop();
      dispatcher.stop();
    },
  };
}

function healthyOf(validators: readonly Validator[], head: PoolHead): HealthyValidator[] {
  return validators
    .map((validator) => ({
      index: validator.index,
      url: validator.url,
      tier: tierOf(validator, slowLane, head),
    }))
    .filter(({ tier }) => tier <= 1)
    .sort((one, other) => one.tier - other.tier);
}
