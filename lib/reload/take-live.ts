import { isBelow } from "./differences.ts";

/**
 * Takes the values below `names` from `next` into `running`, in place: whoever holds `running` or a section of it, and reads
 * a value each time that it is needed, has the new one from then on. Lists are replaced as a whole.
 */
export function takeLive(running: object, next: object, names: readonly string[]): void {
  if (!isRecord(running) || !isRecord(next)) throw new TypeError("two configurations were expected");
  takeBelow({ running, next, names, prefix: "" });
}

type Values = Record<string, unknown>;

function takeBelow({
  running,
  next,
  names,
  prefix,
}: {
  running: Values;
  next: Values;
  names: readonly string[];
  prefix: string;
}): void {
  for (const name of new Set([...Object.keys(running), ...Object.keys(next)])) {
    const path = `${prefix}${name}`;
    const [before, after] = [running[name], next[name]];
    if (isRecord(before) && isRecord(after)) {
      takeBelow({ running: before, next: after, names, prefix: `${path}.` });
    } else if (isBelow(path, names)) {
      if (after === undefined) delete running[name];
      else running[name] = after;
    }
  }
}

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
