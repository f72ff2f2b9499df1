/** What Besu's configuration file needs of TOML 1.0. */
export type TomlValue = string | number | boolean | readonly string[];

export type TomlGroup = { comment: string; values: Readonly<Record<string, TomlValue>> };

/** Groups of `key=value` lines, each below a comment. */
export function writeToml(groups: readonly TomlGroup[]): string {
  return groups
    .map(({ comment, values }) =>
      [
        ...comment.split("\n").map((line) => `# ${line}`),
        ...Object.entries(values).map(([key, value]) => `${key}=${tomlValue(value)}`),
        "",
      ].join("\n"),
    )
    .join("\n");
}

function tomlValue(value: TomlValue): string {
  // JSON's escapes are among those of a TOML basic string; DEL, which TOML wants escaped, JSON leaves as it is.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\x7f", "\\u007F");
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return `[${value.map(tomlValue).join(",")}]`;
}
