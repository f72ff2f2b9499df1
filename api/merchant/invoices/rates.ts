import { readFile, stat } from "node:fs/promises";
import type { Logger } from "pino";
import { z } from "zod";
import { type Refusal, refusal } from "../../../lib/http-service/refusal.ts";
import { idrPerToken } from "./invoices-config.ts";

/** Rupiah for one token as decimal text, since when, and from where. */
export type Rate = { idrPerToken: string; source: "fixed" | "file"; at: Date };

const fileEveryMs = 1000;
const fileBytesMax = 4096;
/** Two machines' clocks differ; a rate of tomorrow is a mistake. */
const aheadMsMax = 300_000;

const fileSchema = z.strictObject({
  idrPerToken,
  at: z.iso
    .datetime({ offset: true, error: 'a time such as "2026-11-23T00:00:00Z" was expected' })
    .transform((text) => new Date(text)),
});

/**
 * What a token is worth. From the configuration, or from a file that somebody's program replaces: it is looked at each second,
 * since a rename or a mounted volume tells no watcher. A file that cannot be used leaves the rate before it, until that is too old.
 * The settings are read for each rate; another file has no rate before it was looked at.
 */
export function createRates({
  settings,
  now,
  logger,
  pollMs = fileEveryMs,
}: {
  settings: {
    readonly idrPerToken: string;
    readonly rateFile: string;
    readonly rateMaxAgeMinutes: number;
  };
  now: () => number;
  logger: Pick<Logger, "error" | "info">;
  pollMs?: number;
}) {
  let last: { rate: Rate; file: string } | undefined;
  let problem: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let underway: Promise<void> | undefined;

  async function look(): Promise<void> {
    const file = settings.rateFile;
    if (file === "") return;
    const read = await readRateFile(file, now());
    if ("rate" in read) {
      if (problem !== undefined) logger.info({ file }, "the exchange rate is read again");
      problem = undefined;
      last = { rate: read.rate, file };
      return;
    }
    if (read.problem !== problem) logger.error({ file, ...read }, "the exchange rate cannot be used");
    problem = read.problem;
  }

  const lookOnce = () =>
    (underway ??= look().finally(() => {
      underway = undefined;
    }));

  return {
    /** The first look is over when it resolves. */
    async start(): Promise<void> {
      await lookOnce();
      timer ??= setInterval(lookOnce, pollMs).unref();
    },

    /** What a new invoice is made with. */
    current(): Rate | Refusal {
      const { idrPerToken: fixed, rateFile, rateMaxAgeMinutes } = settings;
      if (rateFile === "") return { idrPerToken: fixed, source: "fixed", at: new Date(now()) };
      if (last?.file !== rateFile) return stale;
      return now() - last.rate.at.getTime() <= rateMaxAgeMinutes * 60_000 ? last.rate : stale;
    },

    async stop(): Promise<void> {
      clearInterval(timer);
      await underway;
    },
  };
}

export type Rates = ReturnType<typeof createRates>;

async function readRateFile(file: string, nowMs: number): Promise<{ rate: Rate } | { problem: string }> {
  try {
    const { size } = await stat(file);
    if (size > fileBytesMax) return { problem: `it is longer than ${fileBytesMax} bytes` };
    const json: unknown = JSON.parse(await readFile(file, "utf8"));
    const read = fileSchema.safeParse(json);
    if (!read.success) {
      const issues = read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
      return { problem: issues.join("; ") };
    }
    if (read.data.at.getTime() > nowMs + aheadMsMax)
      return { problem: "at: a time that is over was expected" };
    return { rate: { ...read.data, source: "file" } };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: "it is not valid JSON" };
    return {
      problem: `it cannot be read (${error instanceof Error && "code" in error ? error.code : error})`,
    };
  }
}

const stale = refusal(
  "rate_stale",
  "There is no exchange rate that is new enough, so no invoices are made at the moment; try again later",
  { retryAfterMs: 60_000 },
);
