import { z } from "zod";
import { createHeadTracker, type HeadTracker, type HeadTrackerOptions } from "./head-tracker.ts";
import { outsideReasons } from "./validator.ts";

/**
 * How the process that follows the validators tells the workers of it: two parts, of which the latest ones are all that a
 * process that comes later has to know.
 *
 * - `chain`: what was announced since the last message, in order
 * - `standing`: where each validator stands after it. Times are ages, because each process has a monotonic clock of its own.
 */
export type HeadParts = { chain?: ChainNews[] | undefined; standing: Standing };

const headSchema = z.object({
  number: z.bigint(),
  numberHex: z.string(),
  hash: z.string(),
  parentHash: z.string(),
  block: z.record(z.string(), z.unknown()),
});

const epochSchema = z
  .object({ number: z.number(), genesisHash: z.string().optional(), startedAt: z.number() })
  .transform(({ number, genesisHash, startedAt }) => ({ number, genesisHash, startedAt }));

const newsSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("head"), epoch: z.number(), head: headSchema, skipped: z.bigint() }),
  z.object({ kind: z.literal("epoch"), epoch: z.number(), reason: z.string() }),
]);

const outsideSchema = z.object({ reason: z.enum(outsideReasons), words: z.string() });

const validatorSchema = z.object({
  label: z.string(),
  height: z.bigint().optional(),
  connectionLostAgoMs: z.number().optional(),
  status: z.object({
    label: z.string(),
    identity: z.enum(["unknown", "ours", "foreign"]),
    why: z.string().nullable(),
    eligible: z.boolean(),
    outside: z.enum(outsideReasons).nullable(),
    height: z.number().nullable(),
    lag: z.number().nullable(),
    source: z.enum(["newHeads", "polling"]),
    lastHeadAt: z.string().nullable(),
    silentMs: z.number().nullable(),
    wsReconnects: z.number(),
  }),
});

const standingSchema = z.object({
  epoch: epochSchema,
  headAgeMs: z.number(),
  answering: z.number(),
  whyNoneCounts: z.string().optional(),
  outside: z.array(z.object({ label: z.string(), outside: outsideSchema })),
  waiting: z.array(z.object({ number: z.bigint(), hash: z.string(), having: z.array(z.string()) })),
  validators: z.array(validatorSchema),
});

export type ChainNews = z.output<typeof newsSchema>;
export type Standing = z.output<typeof standingSchema>;

const partsSchema = z.object({ chain: z.array(newsSchema).optional(), standing: standingSchema });

/** Undefined where it is not what another process tells of the head. */
export function readHeadParts(parts: unknown): HeadParts | undefined {
  const read = partsSchema.safeParse(parts);
  return read.success ? read.data : undefined;
}

/** Nothing else has happened: the workers are told all the same, so that they know that the head is followed. */
const quietMsMax = 250;

/**
 * One that takes over says nothing before it has asked each validator once, or for so long: until then it knows less than what
 * the workers were told before.
 */
const takeOverMsMax = 2000;

/** A head tracker whose every change is published to processes that have none of their own. */
export function createSharedHead({
  publish,
  monotonicMs = () => performance.now(),
  ...options
}: HeadTrackerOptions & { publish: (parts: HeadParts) => void }): HeadTracker {
  let news: ChainNews[] = [];
  let saidText = "";
  let saidAtMs = Number.NEGATIVE_INFINITY;
  const beganAtMs = monotonicMs();
  let isReady = options.resume === undefined;
  const head = createHeadTracker({ ...options, monotonicMs, onReport: tell });
  head.onHead(({ skipped, epoch, ...announced }) => {
    news.push({ kind: "head", epoch, head: announced, skipped });
  });
  head.onEpoch((reason) => news.push({ kind: "epoch", epoch: head.epoch().number, reason }));

  function tell(): void {
    const nowMs = monotonicMs();
    isReady ||=
      nowMs - beganAtMs >= takeOverMsMax ||
      head.status().every(({ identity, why }) => identity !== "unknown" || why !== null);
    if (!isReady) return;
    const standing = standingOf(head, nowMs);
    const lost = standing.validators.map(({ label }) => head.connectionLostAtMs(label));
    const text = JSON.stringify([standing, lost], withoutTimes);
    if (news.length === 0 && text === saidText && nowMs - saidAtMs < quietMsMax) return;
    saidText = text;
    saidAtMs = nowMs;
    const chain = news;
    news = [];
    publish(chain.length === 0 ? { standing } : { chain, standing });
  }
  return head;
}

function standingOf(head: HeadTracker, nowMs: number): Standing {
  const { outside, waiting } = head.differences();
  return {
    epoch: head.epoch(),
    headAgeMs: head.headAgeMs(),
    answering: head.answering(),
    whyNoneCounts: head.whyNoneCounts(),
    outside,
    waiting: waiting.map((block) => ({ ...block, having: [...block.having] })),
    validators: head.status().map((status) => {
      const lostAtMs = head.connectionLostAtMs(status.label);
      return {
        label: status.label,
        height: head.heightOf(status.label),
        connectionLostAgoMs: lostAtMs === undefined ? undefined : nowMs - lostAtMs,
        status,
      };
    }),
  };
}

/** What grows from moment to moment is no change. */
function withoutTimes(name: string, value: unknown): unknown {
  if (name === "headAgeMs" || name === "silentMs" || name === "connectionLostAgoMs") return undefined;
  return typeof value === "bigint" ? value.toString() : value;
}
