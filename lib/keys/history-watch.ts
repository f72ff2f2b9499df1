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

/** Knows which keys were there last, and judges at each look at Redis whether they still are. */
export function createHistoryWatch({
  connection,
  version,
  onLoss,
}: {
  connection: Redis;
  /** Of the last change that was heard of. */
  version: () => number;
  /** What is missing, at each look for as long as it is; once undefined when it is over. */
  onLoss: (loss: KeyLoss | undefined, known: KeyHistory | undefined) => void;
}) {
  let known: KeyHistory | undefined;
  let loss: KeyLoss | undefined;

  return {
    known: () => known,
    loss: () => loss,

    /** The change that follows the last one was heard of. */
    hear(): void {
      const heard = version();
      if (loss === undefined && known?.version === heard - 1) known = { ...known, version: heard };
    },

    /** Answers the version, after judging whether it is that of the keys that were there before. */
    async read(): Promise<number> {
      // A message that comes right behind the answer is heard before the answer is judged.
      const knownBefore = known;
      const [keys, [versionText, historyText, lostText]] = await Promise.all([
        connection.hlen(keyIdsKey),
        connection.mget(keyVersionKey, keyHistoryKey, keyLostKey),
      ]);
      const seen = { ...parseKeyHistory(versionText, historyText), keys };
      const lost = parseLostKeys(lostText);
      const before = loss;
      loss = keyLoss({ known: knownBefore, lost, seen });
      const missing = lost ?? known;
      if (loss === undefined) known = known === knownBefore ? seen : { ...seen, version: version() };
      // Told to those that start later, and to the command line. It need not arrive: each look tries again.
      else if (lost === undefined && missing !== undefined)
        connection.set(keyLostKey, keyHistoryToText(missing), "NX").catch(() => {});
      if (loss !== undefined || before !== undefined) onLoss(loss, missing);
      return seen.version;
    },
  };
}
