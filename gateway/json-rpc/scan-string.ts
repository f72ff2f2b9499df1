/**
 * What a JSON string says: escapes and UTF-8 decoded. `content` is what stands between its quotes, found to be right by
 * the scanner, one character a byte.
 */
export function decodeString(content: string): string {
  let text = "";
  let at = 0;
  while (at < content.length) {
    const backslash = content.indexOf("\\", at);
    const plainEnd = backslash < 0 ? content.length : backslash;
    // A backslash is ASCII: cutting there never cuts a character of several bytes.
    text += Buffer.from(content.slice(at, plainEnd), "latin1").toString("utf8");
    if (backslash < 0) return text;
    const letter = content.charAt(backslash + 1);
    if (letter === "u") {
      text += String.fromCharCode(Number.parseInt(content.slice(backslash + 2, backslash + 6), 16));
      at = backslash + 6;
    } else {
      text += controlEscapes.get(letter) ?? letter;
      at = backslash + 2;
    }
  }
  return text;
}

const controlEscapes: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
