import { idOf } from "../public-id.ts";

/** What an invoice is looked for by: its id, a transaction that paid it, or how words of its texts begin. */
export type InvoiceSearch =
  | { by: "id"; uuid: string }
  | { by: "transaction"; hash: string }
  | { by: "words"; words: readonly string[] };

/** Of what somebody types so much is looked at. */
const searchCharsMax = 200;
const wordsMax = 8;

/**
 * What somebody typed into the search of invoices; undefined where no word is in it. Signs part words, as they do in the database's
 * column of them, so nothing is left that has a meaning in its language of queries.
 */
export function readInvoiceSearch(typed: string): InvoiceSearch | undefined {
  const text = typed.slice(0, searchCharsMax).trim();
  const id = idOf("inv").safeParse(text);
  if (id.success) return { by: "id", uuid: id.data };
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { by: "transaction", hash: text.toLowerCase() };
  const words = text.match(/(?:[0-9A-Za-z]|[^\p{ASCII}\p{Cc}\p{Cs}\s\u00a0-\u00bf\u2000-\u206f])+/gu);
  return words === null ? undefined : { by: "words", words: words.slice(0, wordsMax) };
}

/** A condition on `svc.invoices i`, the value of its parameter, and what tells the statement from those without it. */
export function searchCondition(
  search: InvoiceSearch | undefined,
  parameter: string,
): { name: string; text: string; values: readonly (string | Buffer)[] } {
  if (search === undefined) return { name: "", text: "", values: [] };
  if (search.by === "id") {
    return { name: "-by-id", text: `and i.id = ${parameter}::uuid`, values: [search.uuid] };
  }
  if (search.by === "transaction") {
    return {
      name: "-by-transaction",
      text: `and i.order_id in (select order_id from svc.payments where tx_hash = ${parameter}::bytea)`,
      values: [Buffer.from(search.hash.slice(2), "hex")],
    };
  }
  return {
    name: "-by-words",
    // Not by the operator `@@`: the planner takes it for rare whatever it is, and sorts all that match instead of going along
    // the list until a page is full.
    text: `and ts_match_vq(i.words, to_tsquery('simple', ${parameter}))`,
    values: [search.words.map((word) => `${word}:*`).join(" & ")],
  };
}
