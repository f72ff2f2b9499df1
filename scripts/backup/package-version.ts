import { readFileSync } from "node:fs";
import { z } from "zod";

const schema = z.object({ version: z.string() });

/** Tollgate's. */
export function packageVersion(): string {
  return schema.parse(JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")))
    .version;
}
