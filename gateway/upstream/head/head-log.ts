import type { Logger } from "pino";
import type { Member } from "./member.ts";
import type { Header } from "./read-header.ts";

/** The log lines of the head, each said once when it begins to be true. */
export function createHeadLog({
  logger,
  failuresMax,
}: {
  logger: Pick<Logger, "info" | "warn" | "debug">;
  failuresMax: number;
}) {
  const saidOf = new Map<string, string>();
  const reasons = new Map<string, string>();
  let saidStalled = false;

  return {
    genesis: (genesisHash: string) => logger.info({ genesisHash }, "this is the network"),

    head({ header, skipped, isFirst }: { header: Header; skipped: bigint; isFirst: boolean }): void {
      const { hash } = header;
      const number = header.number.toString();
      if (skipped > 0n)
        logger.warn({ number, hash, skipped: skipped.toString() }, "head announced, blocks left out");
      else if (isFirst) logger.info({ number, hash }, "first head announced");
      else logger.debug({ number, hash }, "head announced");
    },

    epoch({
      reason,
      epoch,
      genesisHash,
      last,
    }: {
      reason: string;
      epoch: number;
      genesisHash: string | undefined;
      last: bigint | undefined;
    }): void {
      logger.warn({ reason, epoch, genesisHash, lastNumber: last?.toString() }, "a new chain begins");
    },

    stalled(isStalled: boolean, number: bigint | undefined): void {
      if (isStalled === saidStalled) return;
      saidStalled = isStalled;
      if (isStalled) logger.warn({ number: number?.toString() }, "the chain stands still");
      else logger.info({ number: number?.toString() }, "the chain goes on");
    },

    failure: (label: string, reason: string) => void reasons.set(label, reason),

    member({ label, standing, failures }: Member): void {
      const isGone = failures >= failuresMax;
      // Neither is a verdict, and both come and go with each block.
      if (!isGone && (standing.kind === "gap" || standing.kind === "far")) return;
      const kind = isGone ? "gone" : wordsFor[standing.kind];
      const before = saidOf.get(label) ?? "unknown";
      if (kind === before) return;
      saidOf.set(label, kind);
      const fields = { validator: label };
      if (standing.kind === "foreign" && !isGone) {
        logger.warn({ ...fields, why: standing.why }, "validator is of another chain, not counted");
      } else if (standing.kind === "diverged" && !isGone) {
        logger.warn(
          { ...fields, number: standing.at.toString() },
          "validator has another block, not counted",
        );
      } else if (kind === "unbelieved") logger.warn(fields, "validator claims a number far above all others");
      else if (isGone) logger.warn({ ...fields, reason: reasons.get(label) }, "validator does not answer");
      else if (kind === "ours") logger.info(fields, "validator counts");
    },
  };
}

const wordsFor = {
  unknown: "unknown",
  foreign: "foreign",
  ready: "ours",
  has: "ours",
  behind: "ours",
  gap: "ours",
  far: "ours",
  diverged: "diverged",
  unbelieved: "unbelieved",
} as const;
