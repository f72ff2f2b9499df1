import type { z } from "zod";
import { type ErrorCondition, errorTable } from "../../lib/errors.ts";
import { schemaOf } from "./openapi-schemas.ts";

/** What the problem documents of a condition have beyond their own members. */
type ProblemMembers = Readonly<Partial<Record<ErrorCondition, z.ZodObject>>>;

/** The answers that refuse, by status. */
export function problemsOf(conditions: readonly ErrorCondition[], members: ProblemMembers = {}) {
  const byStatus = Map.groupBy([...new Set(conditions)], (condition) => errorTable[condition].status);
  return Object.fromEntries(
    [...byStatus].map(([status, found]) => {
      const codes = [...new Set(found.map((condition) => errorTable[condition].code))];
      const [first] = found;
      const meaning = first === undefined ? "" : errorTable[first].meaning;
      const description = `${meaning} (${codes.map((code) => `\`${code}\``).join(", ")})`;
      return [
        String(status),
        {
          description,
          content: { "application/problem+json": { schema: problemOf(found, members) } },
        },
      ];
    }),
  );
}

function problemOf(conditions: readonly ErrorCondition[], members: ProblemMembers) {
  const problem = { $ref: "#/components/schemas/Problem" };
  const more = conditions.flatMap((condition) => [members[condition] ?? []].flat());
  return more.length === 0 ? problem : { allOf: [problem, ...more.map(membersOf)] };
}

/** Each member by the name under which it is published. */
function membersOf({ shape }: z.ZodObject) {
  const properties = Object.entries(shape).map(([name, schema]) => [name, schemaOf(schema)]);
  return { type: "object", required: Object.keys(shape), properties: Object.fromEntries(properties) };
}

export const problemSchema = {
  type: "object",
  description: "RFC 9457",
  required: ["type", "title", "status", "detail", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", enum: [...new Set(Object.values(errorTable).map(({ code }) => code))].sort() },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "message"],
        properties: { pointer: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};
