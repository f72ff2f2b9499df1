import type { Logger } from "pino";
import type { Header } from "./read-header.ts";
import type { Outside, Standing, TrackedValidator } from "./validator.ts";

/** The log lines of the head. Each is written once, when it begins to be true. */
export function createHeadLog({
  logger,
  failuresMax,
}: {
  logger: Pick<Logger, "info" | "warn" | "debug">;
  failuresMax: number;
}) {
  const saidOf = new Map<string, string>();
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

    stalled({
      isStalled,
      number,
      answering,
    }: {
      isStalled: boolean;
      number: bigint | undefined;
      answering: number;
    }): void {
      if (isStalled === saidStalled) return;
      saidStalled = isStalled;
      if (isStalled) logger.warn({ number: number?.toString(), answering }, "the chain stands still");
      else logger.info({ number: number?.toString() }, "the chain goes on");
    },

    /** Another validator may get its label. */
    forget: (label: string) => void saidOf.delete(label),

    validator({ label, standing, failures, problem, isUnreadable, outside }: TrackedValidator): void {
      const isGone = failures >= failuresMax;
      // Both come and go with each block, and say nothing about the validator.
      if (!isGone && outside === undefined && (standing.kind === "gap" || standing.kind === "far")) return;
      const kind = isGone ? `gone: ${problem}` : (outside?.reason ?? wordsFor[standing.kind]);
      const before = saidOf.get(label) ?? "unknown";
      if (kind === before) return;
      saidOf.set(label, kind);
      if (isGone && isUnreadable) logger.warn({ validator: label, reason: problem }, "validator is left out");
      else if (isGone) logger.warn({ validator: label, reason: problem }, "validator does not answer");
      else if (outside !== undefined)
        logger.warn(
          { validator: label, ...detailOf(standing), reason: outside.words },
          saidFor[outside.reason],
        );
      else if (kind === "ours") logger.info({ validator: label }, "validator counts");
    },
  };
}

function detailOf(standing: Standing): { why?: string; number?: string } {
  if (standing.kind === "foreign") return { why: standing.why };
  return standing.kind === "diverged" || standing.kind === "forged" ? { number: standing.at.toString() } : {};
}

const saidFor: Readonly<Record<Outside["reason"], string>> = {
  another_block: "validator has another block, not counted",
  no_seals: "validator tells a block without a quorum of seals, not counted",
  alone: "validator tells a block that nobody else has, not asked",
  far_above: "validator claims a number far above all others",
  another_chain: "validator is of another chain, not counted",
  unreadable: "validator is left out",
};

const wordsFor = {
  unknown: "unknown",
  foreign: "foreign",
  ready: "ours",
  has: "ours",
  behind: "ours",
  gap: "ours",
  far: "ours",
  diverged: "diverged",
  forged: "forged",
  unbelieved: "unbelieved",
} as const;
