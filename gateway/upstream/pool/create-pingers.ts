import type { Connection, ConnectionEvents } from "./connection.ts";
import { createPinger, type Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { Validator } from "./validator.ts";

/** A pinger for each validator: an answer to a ping is progress. */
export function createPingers({
  validators,
  open,
  settings,
  onPinged,
  now,
}: {
  validators: readonly Validator[];
  open: (validator: Validator, events: ConnectionEvents) => Connection;
  settings: PoolSettings;
  onPinged: () => void;
  now: () => number;
}): readonly Pinger[] {
  return validators.map((validator) =>
    createPinger({
      open: (events) => open(validator, events),
      timeoutMs: settings.health.pingTimeoutMs,
      now,
      onPinged(failure) {
        if (failure === undefined) validator.progressAtMs = now();
        validator.health.pinged(failure, now());
        onPinged();
      },
    }),
  );
}
