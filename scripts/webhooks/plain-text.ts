/** What somebody else wrote, for a terminal: without characters that command one. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\ufffd");
}

/** JSON for a terminal: the same value, with what commands one (C1 and DEL, which JSON allows in texts) as escapes. */
export function plainJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
