import { z } from "zod";

/** The values that configurations share, as zod schemas. Their messages say what was expected. */

/** A whole number in bounds; `max` comes first, because every limit has one. */
export function bounded(max: number, min = 1) {
  const expected = `a whole number from ${min} to ${max} was expected`;
  return z.int(expected).min(min, expected).max(max, expected);
}

const portExpected = "a port, 0 to 65535, was expected";

/** A port to listen on: 0 takes a free one. */
export const port = z.int(portExpected).min(0, portExpected).max(65_535, portExpected);

/** A port that others know beforehand. */
export const fixedPort = bounded(65_535);

/** An address with one of these protocols, each with its colon: `url(["redis:", "rediss:"])`. */
export function url(protocols: readonly string[]) {
  return z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    error: `an address that begins with ${protocols.map((name) => `${name}//`).join(" or ")} was expected`,
  });
}

export const httpUrl = url(["http:", "https:"]);

export const profile = z.enum(["development", "production"]);

/** What `createLogger` takes. */
export const logSettings = z
  .strictObject({
    level: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
    format: z.enum(["json", "pretty"]).default("json"),
  })
  .prefault({});

const hostNamePattern = /^(?:[a-zA-Z0-9_.-]{1,253}|\[[0-9a-fA-F:.]+\])$/;

/** A list, or one value with commas, as an environment variable has it; empty texts are left out. */
export function commaList<Item extends z.ZodType<unknown, string>>(item: Item, max: number) {
  return z.preprocess(
    (value) => (typeof value === "string" ? value.split(",").map((text) => text.trim()) : value),
    z
      .array(z.string())
      .transform((texts) => texts.filter((text) => text !== ""))
      .pipe(z.array(item).max(max)),
  );
}

/** Names of hosts. */
export const hostNames = commaList(
  z.string().regex(hostNamePattern, {
    error: "a host's name without port, such as gateway or ops.example, was expected",
  }),
  64,
);

/** A listener for machines, which answers to its own names only. */
export function privateListener(defaultPort: number) {
  return z
    .strictObject({
      host: z.string().default("127.0.0.1"),
      port: port.default(defaultPort),
      hosts: hostNames.default([]),
    })
    .prefault({});
}
