import type { Redis } from "ioredis";
import { keyHistoryKey, keyIdsKey, keyLostKey, keyVersionKey } from "../redis/keys/api-keys.ts";
import {
  type KeyHistory,
  type KeyLoss,
  keyHistoryToText,
  keyLoss,
  parseKeyHistory,
  parseLostKeys,
} from "./key-history.ts";

/** Knows which keys Redis had last, and checks at each look whether they are still there. */
export function createHistoryWatch({
  connection,
  version,
  onLoss,
}: {
  /** The one that listens now. */
  connection: () => Redis;
  /** The version of the last change that was heard of. */
  version: () => number;
  /** Called with the loss at each look while it lasts, and once with undefined when it is over. */
  onLoss: (loss: KeyLoss | undefined, missing: KeyHistory | undefined) => void;
}) {
  let known: KeyHistory | undefined;
  let loss: KeyLoss | undefined;

  return {
    known: () => known,
    loss: () => loss,

    /** A change that directly follows the last one was heard. */
    hear(): void {
      const heard = version();
      if (loss === undefined && known?.version === heard - 1) known = { ...known, version: heard };
    },

    /** Returns the version, after checking that it belongs to the keys that were there before. */
    async read(): Promise<number> {
      // A message right behind the answer is handled before the answer is checked.
      const knownBefore = known;
      const [keys, [versionText, historyText, lostText]] = await Promise.all([
        connection().hlen(keyIdsKey),
        connection().mget(keyVersionKey, keyHistoryKey, keyLostKey),
      ]);
      const seen = { ...parseKeyHistory(versionText, historyText), keys };
      const lost = parseLostKeys(lostText);
      const before = loss;
      loss = keyLoss({ known: knownBefore, lost, seen });
      const missing = lost ?? known;
      if (loss === undefined) known = known === knownBefore ? seen : { ...seen, version: version() };
      // For gateways that start later and for the command line. It need not arrive: each look tries again.
      else if (lost === undefined && missing !== undefined)
        connection()
          .set(keyLostKey, keyHistoryToText(missing), "NX")
          .catch(() => {});
      if (loss !== undefined || before !== undefined) onLoss(loss, missing);
      return seen.version;
    },
  };
}
