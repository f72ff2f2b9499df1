import type { ReloadRow, ReloadTable } from "../../lib/reload/reload-table.ts";
import { markdownTable } from "./markdown-table.ts";

/** What a reload changes in a running process, and what it refuses. */
export function reloadTables({ live, restart }: ReloadTable): string {
  const rowsOf = (rows: readonly ReloadRow[]) =>
    rows.map(({ names, note }) => [names.map((name) => `\`${name}\``).join(", "), note]);
  return [
    markdownTable(["Changes at once", "For what"], rowsOf(live)),
    markdownTable(["Needs a restart", "Why"], rowsOf(restart)),
  ].join("\n\n");
}
