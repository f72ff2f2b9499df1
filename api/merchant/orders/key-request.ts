import { z } from "zod";
import { keyScopes } from "../../rest/security.ts";
import { packageNames } from "../packages.ts";

export const labelCharsMax = 60;

const labelExpected = `A text of at most ${labelCharsMax} characters without control characters was expected`;
/** PostgreSQL keeps no NUL, and JSON can hold halves of characters that no text has. */
export const keyLabel = z
  .string(labelExpected)
  .max(labelCharsMax, labelExpected)
  .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), labelExpected)
  .meta({ description: "By which you know the key again", examples: ["shop"] });

export const keyPackage = z
  .enum(packageNames, `One of ${packageNames.join(", ")} was expected`)
  .meta({ description: "How long the key is good for: 30, 90 or 365 days" });

const scopesExpected = `A list of scopes, each once, was expected: ${keyScopes.join(", ")}`;
export const scopesOfKey = z
  .array(z.enum(keyScopes, scopesExpected), scopesExpected)
  .min(1, scopesExpected)
  .max(keyScopes.length, scopesExpected)
  .refine((list) => new Set(list).size === list.length, scopesExpected)
  .meta({ description: "What the key may do; all three where none is named", uniqueItems: true });

/** What a key's order is for, as it stands in the row. */
export const keyRequest = z.strictObject({ package: keyPackage, label: keyLabel, scopes: scopesOfKey });
export type KeyRequest = z.output<typeof keyRequest>;
