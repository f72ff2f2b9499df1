import { z } from "zod";
import { isBelow } from "../../lib/reload/differences.ts";
import { namesOf, type ReloadTable } from "../../lib/reload/reload-table.ts";

type JsonSchema = { properties?: Record<string, JsonSchema> };

/** The names of all settings of a file's shape, optional ones too: `limits.points`. */
export function settingNames(schema: z.ZodType): string[] {
  const shape: JsonSchema = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })),
  );
  return namesBelow(shape, "");
}

function namesBelow({ properties }: JsonSchema, prefix: string): string[] {
  return Object.entries(properties ?? {}).flatMap(([name, below]) => {
    const found = namesBelow(below, `${prefix}${name}.`);
    return found.length === 0 ? [`${prefix}${name}`] : found;
  });
}

/** What is wrong with a table: settings that are in neither list, in both, and names that are no settings. */
export function reloadTableProblems({ live, restart }: ReloadTable, settings: readonly string[]): string[] {
  const [changes, fixed] = [namesOf(live), namesOf(restart)];
  return [
    ...settings.flatMap((name) => {
      const isLive = isBelow(name, changes);
      const isFixed = isBelow(name, fixed);
      if (isLive && isFixed) return [`${name} is in both`];
      return isLive || isFixed ? [] : [`${name} is in neither`];
    }),
    ...[...changes, ...fixed]
      .filter((name) => !settings.some((setting) => isBelow(setting, [name])))
      .map((name) => `there is no setting ${name}`),
  ];
}
