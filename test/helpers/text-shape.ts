/**
 * Every text of a language by its path, with the places that it leaves open: two languages are alike in this, whatever
 * they say.
 */
export function textShape(texts: object, path = ""): string[] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const here = `${path}${name}`;
    if (typeof text === "string") return [`${here} ${(text.match(/\{\w+\}/g) ?? []).sort().join(" ")}`];
    if (typeof text === "function") return [`${here}(${text.length})`];
    return textShape(text, `${here}.`);
  });
}
