// @ts-check
import { addCopyButtons } from "./copy.js";
import { byId, setText } from "./elements.js";

/**
 * Parts of a page, by their ids, that are put in anew where the server says another thing than before.
 * @param {readonly string[]} ids
 */
export function createPageParts(ids) {
  const shown = new Map(ids.map((id) => [id, byId(id).innerHTML]));

  return {
    /** @param {Document} page what the server says now */
    renew(page) {
      for (const id of ids) {
        const fresh = page.getElementById(id);
        if (fresh === null || shown.get(id) === fresh.innerHTML) continue;
        shown.set(id, fresh.innerHTML);
        byId(id).replaceChildren(...fresh.childNodes);
        addCopyButtons(byId(id));
      }
    },
  };
}

/**
 * What came of what was pressed.
 * @param {string} text
 * @param {"good" | "bad" | ""} [kind]
 */
export function tellOutcome(text, kind = "") {
  const outcome = byId("outcome");
  outcome.dataset["kind"] = kind;
  setText(outcome, text);
}
