import { z } from "zod";
import { CommandError, textOf, type Values } from "../../lib/cli/command.ts";
import { didYouMean, nearest } from "../../lib/cli/nearest.ts";
import { parseDuration } from "../../lib/config/duration.ts";
import type { Profile } from "../../lib/keys/api-key.ts";
import {
  permissions as allPermissions,
  limitPerMinuteMax,
  type Permission,
} from "../../lib/keys/key-record.ts";

const durationMsMax = 10 * 366 * 86_400_000;

/** `90s`, `15m`, `24h`, `30d` or `0`, in milliseconds. */
export function readDurationMs(name: string, text: string): number {
  const durationMs = text === "0" ? 0 : parseDuration(text, ["s", "m", "h", "d"]);
  const isUsable = durationMs !== undefined && Number.isInteger(durationMs) && durationMs <= durationMsMax;
  if (isUsable) return durationMs;
  throw expected(name, "a length of time such as 30m, 24h or 30d (at most 10 years)", text);
}

/** A time with its zone, or a date, which begins at midnight UTC. zod also refuses days that no month has. */
const isoTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** A length of time from now, or a date and time with its zone, in Unix milliseconds; always in the future. */
export function readExpiryMs(values: Values, name: string, nowMs: number): number | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  if (/^\d+[a-z]?$/i.test(text)) {
    const durationMs = readDurationMs(name, text);
    if (durationMs > 0) return nowMs + durationMs;
  }
  const timeMs = isoTime.safeParse(text).success ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw expected(name, "30d, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z", text);
  if (timeMs <= nowMs) throw expected(name, `a time after now (${new Date(nowMs).toISOString()})`, text);
  if (timeMs > nowMs + durationMsMax) throw expected(name, "a time within the next 10 years", text);
  return timeMs;
}

export function readLimit(values: Values, name: string): number | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  const limit = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= limitPerMinuteMax) return limit;
  throw expected(name, `calls a minute, 1 to ${limitPerMinuteMax}`, text);
}

export function readPermissions(values: Values, name: string): Permission[] | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  const list = new Set<Permission>();
  for (const word of text.split(",").map((part) => part.trim())) {
    const permission = allPermissions.find((candidate) => candidate === word);
    if (permission === undefined) {
      const guess = nearest(word, allPermissions);
      throw expected(name, `a list out of ${allPermissions.join(",")}`, word, guess);
    }
    list.add(permission);
  }
  return allPermissions.filter((permission) => list.has(permission));
}

export function readProfile(values: Values, name: string): Profile | undefined {
  const text = textOf(values, name);
  if (text === undefined || text === "development" || text === "production") return text;
  throw expected(name, "development or production", text, nearest(text, ["development", "production"]));
}

/** A list with commas; the store judges each origin. */
export function readOrigins(values: Values, name: string): string[] | undefined {
  return textOf(values, name)
    ?.split(",")
    .map((origin) => origin.trim());
}

/** An option that takes a value, or `none` to take away what is set: `null`. */
export function readOrNone<T>(values: Values, name: string, read: (values: Values, name: string) => T) {
  return textOf(values, name) === "none" ? null : read(values, name);
}

function expected(name: string, what: string, got: string, guess?: string): CommandError {
  return new CommandError(`--${name}: expected ${what}, got "${got}".${didYouMean(guess)}`, { exitCode: 2 });
}
