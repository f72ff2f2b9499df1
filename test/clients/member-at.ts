/** A member of something untyped by its path: `memberAt(error, "info.responseBody")`. Undefined where there is none. */
export function memberAt(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (inner, name) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined),
      value,
    );
}
