import { z } from "zod";
import type { KeyHistory } from "./key-history.ts";
import {
  hashPattern,
  type KeyRecord,
  keyIdPattern,
  keySettingsSchema,
  profileSchema,
  type TeamSettings,
  teamSettingsSchema,
  timeMsSchema,
} from "./key-record.ts";

/**
 * A backup of keys and teams as JSON Lines: a header, then a line for each team and each key. It holds the hash of each
 * key and no secret. A weak development key can be guessed from its hash.
 */
export type KeyBackup = {
  /** Those of the keys when they were exported. */
  version: number;
  begunAt: number;
  exportedAt: string;
  teams: TeamSettings[];
  keys: KeyRecord[];
};

/** A backup that cannot be read. `problems` name lines, never their content. */
export class BackupError extends Error {
  override name = "BackupError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const format = "tollgate-keys";
const formatVersion = 1;
/** More problems than these do not help to mend a file. */
const problemsMax = 20;

const counter = z.int().min(0);
const headerSchema = z.strictObject({
  format: z.literal(format, `expected "${format}": this is not a backup of keys`),
  formatVersion: z.literal(
    formatVersion,
    `expected ${formatVersion}: this backup is of another version of Tollgate`,
  ),
  exportedAt: z.iso.datetime(),
  version: counter,
  begunAt: counter,
  teams: counter,
  keys: counter,
});
const teamLineSchema = z.strictObject({ team: teamSettingsSchema });
const keyLineSchema = z.strictObject({
  key: keySettingsSchema.extend({
    id: z.string().regex(keyIdPattern, "expected k_ and 12 letters or digits"),
    hash: z.string().regex(hashPattern, "expected a SHA-256 as 64 hexadecimal digits"),
    createdAtMs: timeMsSchema,
    expiresAtMs: timeMsSchema.exactOptional(),
    revokedAtMs: timeMsSchema.exactOptional(),
    profile: profileSchema,
    seededFor: z.literal("development").exactOptional(),
    rotatedTo: z.string().regex(keyIdPattern).exactOptional(),
    rotatedFrom: z.string().regex(keyIdPattern).exactOptional(),
  }),
});

export function writeBackup({
  history,
  exportedAtMs,
  teams,
  keys,
}: {
  history: KeyHistory;
  exportedAtMs: number;
  teams: readonly TeamSettings[];
  keys: readonly KeyRecord[];
}): string {
  const header: z.output<typeof headerSchema> = {
    format,
    formatVersion,
    exportedAt: new Date(exportedAtMs).toISOString(),
    version: history.version,
    begunAt: history.begunAt,
    teams: teams.length,
    keys: keys.length,
  };
  const lines = [header, ...teams.map((team) => ({ team })), ...keys.map((key) => ({ key }))];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Reads all of a backup before anybody writes any of it. Throws a BackupError that names the lines. */
export function readBackup(text: string, { hasTeam }: { hasTeam: (name: string) => boolean }): KeyBackup {
  const problems: string[] = [];
  const lines = text.replace(/\n$/, "").split("\n");
  const header = readLine(lines[0] ?? "", headerSchema);
  if ("problem" in header) throw new BackupError([`line 1: ${header.problem}`]);
  const teams = new Map<string, TeamSettings>();
  const keys: KeyRecord[] = [];
  const lineOf = new Map<string, number>();

  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const problem = take(line, index + 1);
    if (problem !== undefined) problems.push(`line ${index + 1}: ${problem}`);
    if (problems.length === problemsMax) throw new BackupError([...problems, "and perhaps more"]);
  }
  if (problems.length === 0) {
    for (const what of ["teams", "keys"] as const) {
      const found = what === "teams" ? teams.size : keys.length;
      const said = header.value[what];
      if (found !== said) problems.push(`line 1: says ${said} ${what}, the file has ${found}: is it whole?`);
    }
  }
  if (problems.length > 0) throw new BackupError(problems);
  const { version, begunAt, exportedAt } = header.value;
  return { version, begunAt, exportedAt, teams: [...teams.values()], keys };

  function take(line: string, number: number): string | undefined {
    if (/^\s*\{\s*"team"/.test(line)) {
      const read = readLine(line, teamLineSchema);
      if ("problem" in read) return read.problem;
      const { team } = read.value;
      if (teams.has(team.name)) return `team ${team.name} stands in the file twice`;
      teams.set(team.name, team);
      return undefined;
    }
    const read = readLine(line, keyLineSchema);
    if ("problem" in read) return read.problem;
    const { key } = read.value;
    if (!teams.has(key.team) && !hasTeam(key.team))
      return `team ${key.team} stands neither above in the file nor in Redis`;
    for (const name of [key.id, key.hash]) {
      const other = lineOf.get(name);
      if (other !== undefined) return `the key ${key.id} stands in line ${other} already`;
      lineOf.set(name, number);
    }
    keys.push(key);
    return undefined;
  }
}

function readLine<T>(line: string, schema: z.ZodType<T>): { value: T } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { problem: "expected a JSON object" };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: `${issue?.path.join(".") || "line"}: ${issue?.message ?? "not as expected"}` };
}
