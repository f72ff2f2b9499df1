/** One value that differs between two configurations. `path` is written as in the file: `limits.bodyBytesMax`. */
export type Difference = {
  path: string;
  /** Undefined where it was not there. Without the credentials of addresses. */
  from: unknown;
  /** Undefined where it is not there any more. */
  to: unknown;
};

/**
 * Where two configurations differ, in the order of the new one, what is gone last. Objects are compared member by member,
 * at most `depthMax` deep; a list counts as one value. Of values below `secret` no more is told than that they differ.
 */
export function differencesOf(from: object, to: object, secret: readonly string[] = []): Difference[] {
  const before = leavesOf(from);
  const after = leavesOf(to);
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths]
    .filter((path) => textOf(before.get(path)) !== textOf(after.get(path)))
    .map((path) => {
      const show = isBelow(path, secret) ? hidden : shown;
      return { path, from: show(before.get(path)), to: show(after.get(path)) };
    });
}

/** Whether `path` is one of `names` or stands below one of them. */
export function isBelow(path: string, names: readonly string[]): boolean {
  return names.some((name) => path === name || path.startsWith(`${name}.`));
}

/** All values of a configuration by their paths, as they may be shown. */
export function shownValues(settings: object): [path: string, value: unknown][] {
  return [...leavesOf(settings)].map(([path, value]) => [path, shown(value)]);
}

const depthMax = 8;

function leavesOf(value: object, prefix = "", depth = 1): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    if (member === undefined) continue;
    if (!isRecord(member) || depth === depthMax) leaves.set(path, member);
    else for (const [below, leaf] of leavesOf(member, path, depth + 1)) leaves.set(below, leaf);
  }
  return leaves;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value as text, to compare it and to show it. Amounts are `bigint`. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, writable) ?? "undefined";
}

function shown(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value, withoutCredentials));
}

function hidden(value: unknown): unknown {
  return value === undefined || value === "" ? value : "(secret)";
}

function writable(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/** An address may have a password or a token in it: of those no more is shown than host and path. */
function withoutCredentials(name: string, value: unknown): unknown {
  if (typeof value !== "string" || !value.includes("://") || !URL.canParse(value)) {
    return writable(name, value);
  }
  const { protocol, host, pathname, username, password, search } = new URL(value);
  if (username === "" && password === "" && search === "") return value;
  return `${protocol}//${username === "" && password === "" ? "" : "…@"}${host}${pathname}${search === "" ? "" : "?…"}`;
}
