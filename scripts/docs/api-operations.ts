import type { OperationDescription } from "../../api/rest/operation.ts";
import { operations } from "../../api/rest/operations.ts";
import { markdownTable } from "./markdown-table.ts";

/** What can be asked with a wallet's session or a key that was bought; sessions themselves have a chapter of their own. */
export function operationsTable(): string {
  const rows = operations.filter(({ path }) => !/^\/api\/v1\/svc-dev\/sessions?\b/.test(path));
  return markdownTable(
    ["Endpoint", "Who", "What it does", "Body", "Refusals of its own"],
    rows.map((row) => [
      `\`${row.method} ${row.path.replaceAll(/\{(\w+)\}/g, ":$1")}\``,
      callerOf(row),
      row.summary,
      fieldsOf(row),
      row.problems
        .filter((condition) => condition !== "service_unavailable")
        .map((condition) => `\`${condition}\``)
        .join(", "),
    ]),
  );
}

function callerOf({ security: { schemes, scope } }: OperationDescription): string {
  if (scope !== undefined) return `a key with \`${scope}\``;
  return schemes.length === 0 ? "anybody" : "the wallet";
}

function fieldsOf({ body }: OperationDescription): string {
  if (body === undefined || !("shape" in body)) return "";
  return Object.keys(Object(body.shape))
    .map((name) => `\`${name}\``)
    .join(", ");
}
