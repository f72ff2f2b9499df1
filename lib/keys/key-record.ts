import { z } from "zod";
import type { Profile } from "./api-key.ts";

export const permissions = ["rpc", "faucet", "explorer"] as const;
export type Permission = (typeof permissions)[number];

/** What a person chooses for a key. */
export type KeySettings = {
  team: string;
  label: string;
  permissions: Permission[];
  /** The key's own limit; without one the team's holds, else the default of the profile. */
  limitPerMinute?: number;
  /** Browser origins that may use the key; without them the team's list holds, else any origin may. */
  origins?: string[];
  /** For scripted load of a QA team, which operators want to tell apart. Its limit is `limitPerMinute`. */
  qa: boolean;
};

/** One API key as Redis holds it. Times are Unix milliseconds. */
export type KeyRecord = KeySettings & {
  /** Public name, `k_` and 12 base62 characters: for logs, metrics and the command line. */
  id: string;
  /** SHA-256 of the secret, 64 hex digits. */
  hash: string;
  createdAtMs: number;
  expiresAtMs?: number;
  revokedAtMs?: number;
  profile: Profile;
  /** Comes from a development configuration, where its secret stands in the open. */
  seededFor?: "development";
  /** Ids that link the two keys of a rotation. */
  rotatedTo?: string;
  rotatedFrom?: string;
};

/** Settings for all keys of a team. An absent field sets nothing. */
export type TeamSettings = {
  name: string;
  limitPerMinute?: number;
  /** Calls a minute over all keys of the team together. */
  capPerMinute?: number;
  origins?: string[];
};

/** A record that the key store did not write. The message names the record and never holds a secret. */
export class CorruptKeyRecordError extends Error {
  override name = "CorruptKeyRecordError";
}

export const limitPerMinuteMax = 1_000_000_000;
export const originsMax = 50;
export const labelCharsMax = 120;

/** Also used as `{team:<name>}` in hash tags, so braces and spaces have no place in it. */
export const teamNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const keyIdPattern = /^k_[0-9A-Za-z]{12}$/;
export const hashPattern = /^[0-9a-f]{64}$/;

const limitSchema = z.int().min(1).max(limitPerMinuteMax);
const originsSchema = z
  .array(z.string().refine(isOrigin, "expected an origin such as https://app.example"))
  .min(1)
  .max(originsMax);

/** Refuses fields that it does not know. */
export const keySettingsSchema = z.strictObject({
  team: z.string().regex(teamNamePattern, "expected lower-case letters, digits and dashes, at most 63"),
  label: z
    .string()
    .max(labelCharsMax)
    .regex(/^\P{Cc}*$/u, "expected no control characters"),
  permissions: z
    .array(z.enum(permissions))
    .min(1)
    .refine((list) => new Set(list).size === list.length, "expected each permission once"),
  limitPerMinute: limitSchema.exactOptional(),
  origins: originsSchema.exactOptional(),
  qa: z.boolean(),
});

export const teamSettingsSchema = z.strictObject({
  name: z.string().regex(teamNamePattern, "expected lower-case letters, digits and dashes, at most 63"),
  limitPerMinute: limitSchema.exactOptional(),
  capPerMinute: limitSchema.exactOptional(),
  origins: originsSchema.exactOptional(),
});

/** Unix milliseconds that a script can compare. Checked before, because a script that fails may have written half. */
export const timeMsSchema = z.int().min(0).max(8_640_000_000_000_000);

export const profileSchema = z.enum(["development", "production"]);
const timeSchema = z
  .string()
  .regex(/^\d{1,16}$/, "expected milliseconds")
  .transform(Number)
  .pipe(timeMsSchema);

/** The hash's fields are texts. Lists are joined by commas, which neither a permission nor an origin can contain. */
const recordSchema = z.object({
  id: z.string().regex(keyIdPattern),
  team: keySettingsSchema.shape.team,
  label: keySettingsSchema.shape.label.default(""),
  permissions: z.string().transform(splitList).pipe(keySettingsSchema.shape.permissions),
  limitPerMinute: z.string().transform(Number).pipe(limitSchema).exactOptional(),
  origins: z.string().transform(splitList).pipe(originsSchema).exactOptional(),
  qa: z.enum(["0", "1"]).transform((text) => text === "1"),
  createdAtMs: timeSchema,
  expiresAtMs: timeSchema.exactOptional(),
  revokedAtMs: timeSchema.exactOptional(),
  profile: profileSchema,
  seededFor: z.literal("development").exactOptional(),
  rotatedTo: z.string().regex(keyIdPattern).exactOptional(),
  rotatedFrom: z.string().regex(keyIdPattern).exactOptional(),
});

/** Fields of a record as texts, for HSET. Those that are absent are left out. */
export function keyRecordToFields(record: Partial<KeyRecord>): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(record)) {
    if (value !== undefined && name !== "hash") fields[name] = toText(value);
  }
  return fields;
}

function toText(value: string | number | boolean | string[]): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "boolean" ? String(Number(value)) : String(value);
}

/**
 * Reads what HGETALL answers for `hash`, a flat list of names and values. Throws a CorruptKeyRecordError that says
 * which field is wrong.
 */
export function parseKeyRecord(hash: string, flat: readonly unknown[]): KeyRecord {
  if (flat.length === 0) throw new CorruptKeyRecordError(`key record ${hash}: is missing`);
  const fields: Record<string, unknown> = {};
  for (let index = 0; index < flat.length; index += 2) fields[String(flat[index])] = flat[index + 1];
  const parsed = recordSchema.safeParse(fields);
  if (!parsed.success) throw new CorruptKeyRecordError(`key record ${hash}: ${whatIsWrong(parsed.error)}`);
  if (!hashPattern.test(hash)) throw new CorruptKeyRecordError(`key record ${hash}: not named by a SHA-256`);
  return { ...parsed.data, hash };
}

/** Settings of the team, or those of a team that set nothing where there are none. */
export function parseTeamSettings(name: string, text: unknown): TeamSettings {
  if (text === null || text === undefined) return { name };
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch (cause) {
    throw new CorruptKeyRecordError(`settings of team ${name}: not JSON`, { cause });
  }
  const parsed = teamSettingsSchema.safeParse(value);
  if (!parsed.success)
    throw new CorruptKeyRecordError(`settings of team ${name}: ${whatIsWrong(parsed.error)}`);
  return parsed.data;
}

function whatIsWrong(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.join(".") || "record"}: ${issue.message}`).join("; ");
}

function splitList(text: string): string[] {
  return text === "" ? [] : text.split(",");
}

/** A serialized origin (RFC 6454, section 6.2), or `null`, is what a browser sends; anything more never matches. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s,/]+$/.test(text)) return false;
  if (!/^https?:/.test(text)) return true;
  return URL.canParse(text) && new URL(text).origin === text;
}
