import { Client } from "pg";

/** What can be planted: each must be found by the harness, or it finds nothing. */
export const plantedFaults = ["no transaction", "no order check"] as const;
export type PlantedFault = (typeof plantedFaults)[number];

const boundary = /^(begin|commit|rollback)$/;

/**
 * Makes this process's statements do what they must not. "no transaction": each statement is a transaction of its own.
 * "no order check": rows are read without being locked, so that two calls find the same order unused; the database's own
 * constraint has to be dropped with it.
 */
export function plantFault(fault: string): void {
  if (fault === "") return;
  const original: unknown = Reflect.get(Client.prototype, "query");
  if (typeof original !== "function") throw new Error("pg has changed");
  Reflect.set(Client.prototype, "query", function planted(this: Client, ...given: unknown[]): unknown {
    const [statement] = given;
    if (fault === "no transaction" && typeof statement === "string" && boundary.test(statement)) {
      return Promise.resolve({ rows: [], rowCount: null, command: statement.toUpperCase() });
    }
    const changed = fault === "no order check" ? unlocked(statement) : statement;
    return Reflect.apply(original, this, [changed, ...given.slice(1)]);
  });
}

function unlocked(statement: unknown): unknown {
  if (typeof statement === "string") {
    return statement
      .replace(/ for (?:no key )?update(?: of [a-z_, ]+)?/g, "")
      .replace(/do update set address = excluded\.address/, "do nothing");
  }
  if (typeof statement !== "object" || statement === null || !("text" in statement)) return statement;
  return { ...statement, text: unlocked(statement.text) };
}
