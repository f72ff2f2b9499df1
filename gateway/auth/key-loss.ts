import type { Logger } from "pino";
import type { Profile } from "../../lib/keys/api-key.ts";
import type { KeyHistory, KeyLoss } from "../../lib/keys/key-history.ts";
import type { KeyStore } from "../../lib/keys/key-store.ts";
import type { SeedKey } from "../../lib/keys/seed-keys.ts";

/** What `/readyz` says. */
export const lossReasons: Readonly<Record<KeyLoss | "neverAny", string>> = {
  emptied:
    "Redis has lost all API keys: bring them back with npm run keys -- import, or say that none are meant with confirm",
  begunAnew:
    "Redis has lost the API keys of before: bring them back with npm run keys -- import, or say that none of them are meant with confirm",
  older:
    "Redis holds an earlier state of the API keys: bring the last one back with npm run keys -- import, or say that this one is meant with confirm",
  neverAny:
    "Redis holds no API keys: make the first with npm run keys -- create, or bring lost ones back with import",
};

export type KeyLossKeeper = {
  /** For the key cache: keys are missing, or no more. */
  told(loss: KeyLoss | "neverAny" | undefined, missing: KeyHistory | undefined): void;
};

/**
 * What a gateway does while keys that were there are missing in Redis: says so, keeps the limits by itself, and in the
 * development profile puts the keys of its configuration back. Where those are all that there were, it is over then.
 */
export function createKeyLossKeeper({
  profile,
  seeds,
  keyStore,
  logger,
  holdLimits,
}: {
  profile: Profile;
  seeds: readonly SeedKey[];
  keyStore: Pick<KeyStore, "seed" | "history" | "confirm">;
  logger: Pick<Logger, "info" | "error" | "warn">;
  /** With a reason: Redis is not to be asked about limits until it is called without one. */
  holdLimits: (reason: string | undefined) => void;
}): KeyLossKeeper {
  let last: KeyLoss | "neverAny" | undefined;
  let isSeeding = false;
  let isSeeded = false;

  async function seedAgain(missing: KeyHistory | undefined): Promise<void> {
    isSeeding = true;
    try {
      const { seeded } = await keyStore.seed({ keys: seeds, profile });
      isSeeded = true;
      const { now } = await keyStore.history();
      const isWhole = missing !== undefined && now.keys >= missing.keys;
      logger.warn({ seeded, keysBefore: missing?.keys, keys: now.keys }, "development keys were put back");
      if (isWhole) await keyStore.confirm({ above: missing.version });
    } catch (error) {
      logger.warn({ err: error }, "development keys could not be put back yet");
    } finally {
      isSeeding = false;
    }
  }

  return {
    told(loss, missing) {
      if (loss === "neverAny") {
        // Nothing that was here is missing, so limits hold.
        if (last !== loss) logger.warn(lossReasons[loss]);
        last = loss;
        return;
      }
      if (loss !== last) {
        holdLimits(loss === undefined ? undefined : lossReasons[loss]);
        if (loss === undefined) logger.info("the API keys in Redis are whole again");
        else logger.error({ loss, version: missing?.version, keys: missing?.keys }, lossReasons[loss]);
      }
      if (loss === undefined || loss === "emptied") isSeeded = false;
      last = loss;
      const maySeed = profile === "development" && (loss === "emptied" || loss === "begunAnew");
      if (maySeed && !isSeeding && !isSeeded) void seedAgain(missing);
    },
  };
}
