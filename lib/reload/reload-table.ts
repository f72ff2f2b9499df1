/** Settings by their names in the file, or by that of the section that they stand in, and what an operator should know. */
export type ReloadRow = { names: readonly string[]; note: string };

/**
 * What becomes of each setting when a running process reads its configuration again. A setting that is in neither list
 * refuses the file; a test holds the lists against all settings that there are.
 */
export type ReloadTable = {
  /** Changed in the running process; the note says what it counts for. */
  live: readonly ReloadRow[];
  /** Refused by its name; the note says why. */
  restart: readonly ReloadRow[];
  /** Of `live`: never shown, neither in an answer nor in the log. */
  secret?: readonly string[];
};

export function namesOf(rows: readonly ReloadRow[]): string[] {
  return rows.flatMap(({ names }) => names);
}
