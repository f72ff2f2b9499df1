/** Values that stand for placeholders; `undefined` where there is none at the moment. */
export type Scope = (name: string) => unknown;

/** JSON text with the placeholders' values in place; `undefined` where one has no value. */
export type Template = (scope: Scope) => string | undefined;

/** `$name`, `$name.path.0`, and behind either `:word` for the value as 32 bytes without 0x. `$$` is a dollar sign. */
const placeholderPattern = /\$\$|\$([A-Za-z][A-Za-z0-9]*)((?:\.[A-Za-z0-9_]+)*)(:word)?/g;

export type Placeholder = { name: string; path: readonly string[]; isWord: boolean };
type Piece = string | Placeholder;

/**
 * A scope in which a name stands for the same value wherever a template has it: a range from `$block` to `$block` is one
 * block, not two drawn apart that may run backwards.
 */
export function drawnOnce(scope: Scope): Scope {
  const drawn = new Map<string, unknown>();
  return (name) => {
    if (!drawn.has(name)) drawn.set(name, scope(name));
    return drawn.get(name);
  };
}

/** All placeholders in a value of YAML, wherever inside it they stand, each with the place of its text. */
export function findPlaceholders(
  value: unknown,
  path: readonly (string | number)[] = [],
): { placeholder: Placeholder; path: readonly (string | number)[] }[] {
  if (typeof value === "string") {
    return piecesOf(value).flatMap((piece) =>
      typeof piece === "string" ? [] : [{ placeholder: piece, path }],
    );
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    findPlaceholders(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** Makes a template of a value of YAML. A text that is one placeholder becomes its value, of whatever type that is. */
export function compileTemplate(value: unknown): Template {
  if (typeof value === "string") return compileText(value);
  if (typeof value !== "object" || value === null) return constant(JSON.stringify(value));
  const members = Array.isArray(value)
    ? value.map((item: unknown) => ({ prefix: "", template: compileTemplate(item) }))
    : Object.entries(value).map(([name, item]) => ({
        prefix: `${JSON.stringify(name)}:`,
        template: compileTemplate(item),
      }));
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (findPlaceholders(value).length === 0) return constant(JSON.stringify(value));
  return (scope) => {
    let text = open;
    for (const [index, { prefix, template }] of members.entries()) {
      const inner = template(scope);
      if (inner === undefined) return undefined;
      text += `${index === 0 ? "" : ","}${prefix}${inner}`;
    }
    return text + close;
  };
}

/** A text with its placeholders filled in, not as JSON; `undefined` where one has no value or none that is a text. */
export function fillText(text: string, scope: Scope): string | undefined {
  let filled = "";
  for (const piece of piecesOf(text)) {
    const value = typeof piece === "string" ? piece : readPlaceholder(piece, scope);
    if (typeof value !== "string" && typeof value !== "number") return undefined;
    filled += value;
  }
  return filled;
}

function compileText(text: string): Template {
  const [first, ...others] = piecesOf(text);
  if (first === undefined) return constant('""');
  if (others.length > 0) {
    return (scope) => {
      const filled = fillText(text, scope);
      return filled === undefined ? undefined : JSON.stringify(filled);
    };
  }
  if (typeof first === "string") return constant(JSON.stringify(first));
  return (scope) => {
    const value = readPlaceholder(first, scope);
    return value === undefined ? undefined : JSON.stringify(value);
  };
}

function constant(text: string): Template {
  return () => text;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  const add = (literal: string) => {
    const last = pieces.at(-1);
    if (literal === "") return;
    if (typeof last === "string") pieces[pieces.length - 1] = last + literal;
    else pieces.push(literal);
  };
  for (const match of text.matchAll(placeholderPattern)) {
    add(text.slice(end, match.index));
    end = match.index + match[0].length;
    const [, name, path = "", word] = match;
    if (name === undefined) add("$");
    else pieces.push({ name, path: path.split(".").slice(1), isWord: word !== undefined });
  }
  add(text.slice(end));
  return pieces;
}

function readPlaceholder({ name, path, isWord }: Placeholder, scope: Scope): unknown {
  let value = scope(name);
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  if (!isWord) return value ?? undefined;
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value)
    ? value.slice(2).padStart(64, "0")
    : undefined;
}
