import { readFileSync } from "node:fs";
import { type Document, isMap, isPair, isScalar, LineCounter, parse, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { errorCode } from "../error-code.ts";

/** What is wrong with a configuration, one line a problem: `file:line: key: what was expected`. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a YAML file, puts the environment's values in place of `${NAME}` and `${NAME:-default}` inside scalar values,
 * and checks the whole against a zod schema. Where NAME is not set and NAME_FILE is, the value is what stands in that
 * file: so secrets need not be in the environment (https://docs.docker.com/compose/how-tos/use-secrets/).
 *
 * The substitution works on parsed values, so that a value from the environment can never become YAML structure. A
 * value written without quotes is read as YAML again afterwards: `port: ${PORT:-8540}` is a number.
 *
 * @throws ConfigError that names file, line, key and what was expected, for all problems at once.
 */
export function readConfig<Schema extends z.ZodType>({
  file,
  schema,
  env,
  overrides = {},
}: {
  file: string;
  schema: Schema;
  env: Environment;
  /** Top-level values that replace what the file says, as a command line's options do. */
  overrides?: Readonly<Record<string, unknown>>;
}): z.output<Schema> {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines, uniqueKeys: true, stringKeys: true });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.map((error) => `${at(error.pos[0])}: ${error.message.split("\n")[0] ?? error.code}`),
    );
  }
  const problems = substitute(document, env);
  if (problems.length > 0) {
    throw new ConfigError(problems.map(({ text, offset }) => `${at(offset)}: ${text}`));
  }
  const parsed = schema.safeParse({ ...(document.toJS() ?? {}), ...overrides });
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.flatMap((issue) => {
      const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
      const unknownKeys = issue.code === "unrecognized_keys" ? issue.keys : [];
      if (unknownKeys.length === 0) {
        return [`${at(offsetOf(document, path))}: ${nameOf(path)}: ${issue.message}`];
      }
      return unknownKeys.map(
        (key) => `${at(offsetOf(document, [...path, key]))}: ${nameOf([...path, key])}: this key is unknown`,
      );
    }),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError([
      `${file}: cannot be read (${errorCode(cause)}); name another file with --config FILE`,
    ]);
  }
}

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function substitute(document: Document, env: Environment): { text: string; offset: number }[] {
  const problems: { text: string; offset: number }[] = [];
  visit(document, {
    Scalar(_key, node) {
      const { value } = node;
      if (typeof value !== "string" || !value.includes("${")) return;
      const fail = (text: string) => {
        problems.push({ text, offset: node.range?.[0] ?? 0 });
        return "";
      };
      const text = value.replace(variable, (_whole, name: string, fallback: string | undefined) => {
        const found = lookUp(name, env);
        if ("value" in found)
          return found.value ?? fallback ?? fail(`the environment variable ${name} is not set`);
        return fail(found.problem);
      });
      node.value = node.type === "PLAIN" ? scalarOf(text) : text;
    },
  });
  return problems;
}

/** As in a shell's ${NAME:-default}: a variable that is set but empty counts as not set. */
function lookUp(name: string, env: Environment): { value: string | undefined } | { problem: string } {
  const value = env[name] || undefined;
  const file = env[`${name}_FILE`] || undefined;
  if (value !== undefined || file === undefined) return { value };
  try {
    return { value: readFileSync(file, "utf8").trim() || undefined };
  } catch (cause) {
    return { problem: `${name}_FILE: ${file} cannot be read (${errorCode(cause)})` };
  }
}

/** What YAML makes of a bare scalar (`8540` a number, `true` a boolean); anything that is more than a scalar stays text. */
function scalarOf(text: string): unknown {
  try {
    const value: unknown = parse(text);
    return value === null || typeof value === "object" ? text : value;
  } catch {
    return text;
  }
}

function nameOf(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(top level)";
  return path.reduce<string>(
    (name, part) => (typeof part === "number" ? `${name}[${part}]` : name === "" ? part : `${name}.${part}`),
    "",
  );
}

/** Where the key stands, or, for a key that is missing, the nearest one that is there and should hold it. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === last);
      if (pair !== undefined && isScalar(pair.key)) return pair.key.range?.[0] ?? 0;
    }
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (hasRange(node)) return node.range[0];
  }
  return 0;
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);
}
