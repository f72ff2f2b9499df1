import { Client } from "pg";

/** What can be planted: each must be found by the harness, or it finds nothing. */
export const plantedFaults = [
  ...(["no transaction", "no order check"] as const),
  ...(["told after the booking", "delivered when claimed", "a new body each try"] as const),
] as const;
export type PlantedFault = (typeof plantedFaults)[number];

type Query = (...given: unknown[]) => unknown;

const boundary = /^(begin|commit|rollback)$/;
const laterMs = 1000;
const nothing = { rows: [], rowCount: null };

/**
 * Makes this process's statements do what they must not:
 *
 * - "no transaction": each statement is a transaction of its own.
 * - "no order check": rows are read without being locked, so that two calls find the same order unused; the database's own
 *   constraint has to be dropped with it.
 * - "told after the booking": events are written when the transaction that books the payment is over.
 * - "delivered when claimed": an event counts as delivered before it is sent.
 * - "a new body each try": what is sent is made anew, with the time of the try.
 */
const plants: Record<PlantedFault, (text: string, query: (text?: string) => unknown) => unknown> = {
  "no transaction": (text, query) => (boundary.test(text) ? Promise.resolve(nothing) : query()),
  "no order check": (text, query) =>
    query(
      text
        .replace(/ for (?:no key )?update(?! skip)(?: of [a-z_, ]+)?/g, "")
        .replace(/do update set address = excluded\.address/, "do nothing"),
    ),
  "told after the booking"(text, query) {
    if (!text.includes("insert into svc.webhook_events")) return query();
    setTimeout(() => void Promise.resolve(query()).catch(() => {}), laterMs);
    return Promise.resolve(nothing);
  },
  "delivered when claimed": (text, query) =>
    query(
      text
        .replace("then 'waiting' else 'dropped' end", "then 'delivered' else 'dropped' end")
        .replace("d.state = 'waiting' as is_mine", "d.state = 'delivered' as is_mine"),
    ),
  "a new body each try": (text, query) =>
    query(text.replace("v.type, v.body", `v.type, ${bodyOfNow} as body`)),
};

const bodyOfNow = `regexp_replace(v.body, '"timestamp":"[^"]*"', '"timestamp":"' || clock_timestamp() || '"')`;

/** @throws Error where pg is not what it was when this was written. */
export function plantFault(fault: string): void {
  const plant = plantedFaults.find((known) => known === fault);
  if (plant === undefined) return;
  const original: unknown = Reflect.get(Client.prototype, "query");
  if (!isQuery(original)) throw new Error("pg has changed");
  Reflect.set(Client.prototype, "query", function planted(this: Client, ...given: unknown[]): unknown {
    const [statement, ...rest] = given;
    const text = textOf(statement);
    if (text === undefined) return Reflect.apply(original, this, given);
    return plants[plant](text, (changed = text) =>
      Reflect.apply(original, this, [withText(statement, changed), ...rest]),
    );
  });
}

function isQuery(value: unknown): value is Query {
  return typeof value === "function";
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === "string") return statement;
  if (typeof statement !== "object" || statement === null || !("text" in statement)) return undefined;
  return typeof statement.text === "string" ? statement.text : undefined;
}

function withText(statement: unknown, text: string): unknown {
  return typeof statement === "object" ? { ...statement, text } : text;
}
