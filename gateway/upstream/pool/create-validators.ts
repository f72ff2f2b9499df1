import type { Logger } from "pino";
import type { ReceiveBudget } from "../../answer-budget/receive-budget.ts";
import type { NamedUpstream } from "../named-upstreams.ts";
import { type PoolHead, tierOf } from "./choose.ts";
import type { FailureReason } from "./connection.ts";
import { createHealth } from "./health.ts";
import { lightLane } from "./lanes.ts";
import type { PoolSettings } from "./pool-settings.ts";
import { createValidator, type Validator } from "./validator.ts";

/** Bits of one number tell which validators have had a call. */
const validatorsMax = 30;

/** Each validator with its health. The last one that can be asked is never ejected. */
export function createValidators({
  upstreams,
  settings,
  receiving,
  head,
  logger,
  onEjected,
}: {
  upstreams: readonly NamedUpstream[];
  settings: PoolSettings;
  receiving: ReceiveBudget;
  head: PoolHead;
  logger: Logger;
  onEjected: (validator: Validator, reason: FailureReason) => void;
}): readonly Validator[] {
  if (upstreams.length > validatorsMax) throw new Error(`at most ${validatorsMax} validators can be asked`);
  const validators: Validator[] = upstreams.map(({ name, url }, index) => {
    const health = createHealth({
      settings: settings.health,
      mayEject: () => validators.some((other) => other !== validator && isSound(other)),
      onEjected(reason) {
        logger.warn({ validator: name, reason }, "validator ejected");
        onEjected(validator, reason);
      },
      onReadmitted() {
        logger.info({ validator: name }, "validator is back");
        for (const { latency } of validator.lanes) latency.reset();
      },
    });
    const validator = createValidator({ name, url, index, settings, health, room: receiving.forValidator() });
    return validator;
  });
  const isSound = (validator: Validator) =>
    tierOf(validator, lightLane, head) <= 2 && !validator.health.isSuspect();
  return validators;
}
