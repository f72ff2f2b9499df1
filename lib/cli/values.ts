import type { Read } from "./read-program.ts";

/** Readers of values that several command lines take. */

/** A whole number in bounds. */
export function wholeNumber(max: number, min = 1): (text: string) => Read<number> {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { expected: `a whole number from ${min} to ${max}` };
  };
}

/** A number above zero, with or without a point. */
export function positiveNumber(text: string): Read<number> {
  const value = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  return value > 0 ? { value } : { expected: "a number above 0" };
}

/** A port; 0 takes a free one where `min` is 0. */
export function portNumber({ min }: { min: 0 | 1 }): (text: string) => Read<number> {
  return (text) => {
    const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= 65_535 ? { value } : { expected: `a port, ${min} to 65535,` };
  };
}

/** A seed of random choices. */
export const seedNumber = wholeNumber(Number.MAX_SAFE_INTEGER, 0);

/** Names with commas, out of those that are known; in their order. */
export function namesOutOf<Name extends string>(known: readonly Name[]): (text: string) => Read<Name[]> {
  return (text) => {
    const wanted = text.split(",").map((name) => name.trim());
    const unknown = wanted.find((name) => !known.some((one) => one === name));
    if (unknown === undefined) return { value: known.filter((name) => wanted.includes(name)) };
    return { wrong: `names out of ${known.join(", ")} were expected, not "${unknown}"` };
  };
}

/** One name out of those that are known. */
export function nameOutOf<Name extends string>(known: readonly Name[]): (text: string) => Read<Name> {
  return (text) => {
    const value = known.find((name) => name === text);
    return value === undefined ? { expected: `one of ${known.join(", ")}` } : { value };
  };
}
