/** Whoever writes a contract or a transaction says as much as it likes: a page shows so many characters of one value. */
const shownCharactersMax = 2000;

/** The beginning of a text that is too long for a page. */
export function cut(text: string): string {
  return text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`;
}
