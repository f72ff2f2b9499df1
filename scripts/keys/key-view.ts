import { count, duration, time } from "../../lib/cli/format.ts";
import type { KeyRecord, TeamSettings } from "../../lib/keys/key-record.ts";

export type KeyState = "active" | "rotated" | "expired" | "revoked";

/** `rotated`: still good, until the overlap with its successor ends. */
export function keyState(key: KeyRecord, nowMs: number): KeyState {
  if (key.revokedAtMs !== undefined) return "revoked";
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) return "expired";
  return key.rotatedTo === undefined ? "active" : "rotated";
}

/** A key as `--json` shows it: times as ISO 8601, and without the hash, by which a weak development key can be guessed. */
export function keyToJson(key: KeyRecord, nowMs: number) {
  const { hash: _hash, createdAtMs, expiresAtMs, revokedAtMs, ...rest } = key;
  return {
    ...rest,
    state: keyState(key, nowMs),
    createdAt: new Date(createdAtMs).toISOString(),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    ...(revokedAtMs === undefined ? {} : { revokedAt: new Date(revokedAtMs).toISOString() }),
  };
}

/** A key for people, as names and values. */
export function keyToFields({
  key,
  team,
  requestsPerMinute,
  nowMs,
}: {
  key: KeyRecord;
  team: TeamSettings;
  /** What holds where neither the key nor its team has a limit. */
  requestsPerMinute: number;
  nowMs: number;
}): [string, string][] {
  const rows: [string, string][] = [
    ["id", key.id],
    ["team", key.team],
    ["label", key.label],
    ["state", stateText(key, nowMs)],
    ["profile", key.seededFor === undefined ? key.profile : `${key.profile} (from the configuration)`],
    ["permissions", key.permissions.join(", ")],
    ["limit", limitText(key, team, requestsPerMinute)],
    ["origins", originsText(key, team)],
    ["created", time(key.createdAtMs)],
    ["expires", expiryText(key, nowMs)],
  ];
  if (key.qa) rows.push(["qa", "yes"]);
  if (key.rotatedFrom !== undefined) rows.push(["rotated from", key.rotatedFrom]);
  if (key.rotatedTo !== undefined) rows.push(["rotated to", key.rotatedTo]);
  return rows;
}

export function effectiveLimit(key: KeyRecord, team: TeamSettings, requestsPerMinute: number): number {
  return key.limitPerMinute ?? team.limitPerMinute ?? requestsPerMinute;
}

export function expiryText({ expiresAtMs }: KeyRecord, nowMs: number): string {
  if (expiresAtMs === undefined) return "never";
  return `${time(expiresAtMs)} (${expiresAtMs > nowMs ? `in ${duration(expiresAtMs - nowMs)}` : "passed"})`;
}

function stateText(key: KeyRecord, nowMs: number): string {
  const state = keyState(key, nowMs);
  if (state === "rotated") return "active until the overlap ends";
  return key.revokedAtMs === undefined ? state : `revoked ${time(key.revokedAtMs)}`;
}

function limitText(key: KeyRecord, team: TeamSettings, requestsPerMinute: number): string {
  const whose =
    key.limitPerMinute !== undefined
      ? "the key's own"
      : team.limitPerMinute !== undefined
        ? "the team's"
        : "the default";
  const cap = team.capPerMinute === undefined ? "" : `; all keys of the team ${count(team.capPerMinute)}`;
  return `${count(effectiveLimit(key, team, requestsPerMinute))} a minute (${whose})${cap}`;
}

function originsText(key: KeyRecord, team: TeamSettings): string {
  if (key.origins !== undefined) return key.origins.join(", ");
  return team.origins === undefined ? "any" : `${team.origins.join(", ")} (the team's)`;
}
