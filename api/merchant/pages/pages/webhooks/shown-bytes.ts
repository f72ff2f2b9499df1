/** As U+ writes them: `\u{202e}`. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * What somebody else's program answered, to be looked at as text: what would not show, or would turn the order of what is around it, is
 * written out. Line feeds and tabs stay.
 */
export function shownBytes(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(invisible, (sign) =>
      sign === "\n" || sign === "\t" ? sign : `\\u{${sign.codePointAt(0)?.toString(16) ?? ""}}`,
    );
}
