import type { Connection, ConnectionEvents } from "./connection.ts";
import { createPinger, type Pinger } from "./pinger.ts";
import type { PoolSettings } from "./pool-settings.ts";
import type { Validator } from "./validator.ts";

export type Pingers = ReturnType<typeof createPingers>;

/** A pinger for each validator: an answer to a ping is progress. */
export function createPingers({
  open,
  settings,
  onPinged,
  now,
}: {
  open: (validator: Validator, events: ConnectionEvents) => Connection;
  settings: PoolSettings;
  onPinged: () => void;
  now: () => number;
}) {
  const pingers = new Map<Validator, Pinger>();

  function make(validator: Validator): Pinger {
    const pinger = createPinger({
      open: (events) => open(validator, events),
      timeoutMs: settings.health.pingTimeoutMs,
      now,
      onPinged(failure) {
        if (failure === undefined) validator.progressAtMs = now();
        validator.health.pinged(failure, now());
        onPinged();
      },
    });
    pingers.set(validator, pinger);
    return pinger;
  }

  return {
    of: (validator: Validator): Pinger => pingers.get(validator) ?? make(validator),
    remove(validator: Validator): void {
      pingers.get(validator)?.stop();
      pingers.delete(validator);
    },
    stop(): void {
      for (const pinger of pingers.values()) pinger.stop();
    },
  };
}
