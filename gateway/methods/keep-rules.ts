import { isDeepStrictEqual } from "node:util";
import type { MethodTable } from "./method-table.ts";

/**
 * The table `next` with the rules of `before` in the place of those that are the same. The pool keeps a plan for each rule as
 * long as it runs, so tables that are read again and again must not bring new ones each time.
 */
export function keepRules(next: MethodTable, before: MethodTable): MethodTable {
  const rules = new Map(
    [...next.rules].map(([name, rule]) => {
      const known = before.rules.get(name);
      return [name, known !== undefined && isDeepStrictEqual(known, rule) ? known : rule];
    }),
  );
  return { ...next, rules, lookup: (method) => rules.get(method) ?? next.lookup(method) };
}
