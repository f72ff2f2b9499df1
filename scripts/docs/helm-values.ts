import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { markdownTable } from "./markdown-table.ts";

const chart = new URL("../../docker/helm/tollgate/", import.meta.url);
const tree = z.record(z.string(), z.unknown());
const schemaNode = z.looseObject({ description: z.string(), properties: tree.optional() });

/** The values of the Helm chart: defaults from values.yaml, meanings from its schema. Throws for one that the schema does not know. */
export function helmValuesTable(): string {
  const values = tree.parse(parse(readFileSync(new URL("values.yaml", chart), "utf8")));
  const schema = z
    .looseObject({ properties: tree })
    .parse(JSON.parse(readFileSync(new URL("values.schema.json", chart), "utf8")));
  return markdownTable(["Value", "Default", "Meaning"], rowsOf(values, schema.properties, ""));
}

function rowsOf(
  values: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
  prefix: string,
): string[][] {
  return Object.entries(values).flatMap(([key, value]) => {
    const read = schemaNode.safeParse(schema[key]);
    if (!read.success) throw new Error(`values.schema.json says nothing of ${prefix}${key}`);
    const { description, properties } = read.data;
    const inner = tree.safeParse(value);
    const deeper =
      properties !== undefined &&
      inner.success &&
      !/resources$/i.test(key) &&
      Object.keys(inner.data).length > 0;
    const row = [`\`${prefix}${key}\``, deeper ? "" : defaultText(value), description.replaceAll("|", "\\|")];
    return deeper ? [row, ...rowsOf(inner.data, properties, `${prefix}${key}.`)] : [row];
  });
}

function defaultText(value: unknown): string {
  return value === "" ? "" : `\`${JSON.stringify(value).replace(/^"(.*)"$/, "$1")}\``;
}
