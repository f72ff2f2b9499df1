import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { ChainUnavailableError } from "./rpc-client.ts";

const retryMs = 500;
const sayEveryTries = 20;

/** What a process has stored belongs to another chain; the message says what to do about it. */
export class WrongChainError extends Error {
  override readonly name = "WrongChainError";
}

/**
 * Waits until the chain answers, and compares its genesis block's hash with the one that the stored data belong to
 * (`knownHash`; undefined where nothing is stored yet). Answers the hash.
 *
 * @throws WrongChainError `<holder> <what it has> of another network (…). <remedy>`
 */
export async function checkChain({
  readGenesisHash,
  knownHash,
  holds,
  remedy,
  logger,
}: {
  /** Throws ChainUnavailableError while the chain does not answer. */
  readGenesisHash: () => Promise<string>;
  knownHash: () => Promise<string | undefined>;
  /** Which data of which store: `Redis holds claims`. */
  holds: string;
  remedy: string;
  logger: Pick<Logger, "warn">;
}): Promise<string> {
  const genesisHash = await untilChainAnswers(readGenesisHash, logger);
  const known = await knownHash();
  if (known === undefined || known === genesisHash) return genesisHash;
  throw new WrongChainError(
    `${holds} of another network (genesis ${known}; the node's is ${genesisHash}). ${remedy}`,
  );
}

async function untilChainAnswers<Value>(
  ask: () => Promise<Value>,
  logger: Pick<Logger, "warn">,
): Promise<Value> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      if (tries % sayEveryTries === 0) logger.warn({ err: error }, "waiting for the chain");
      await sleep(retryMs);
    }
  }
}
