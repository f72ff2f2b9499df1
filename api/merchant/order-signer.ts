import { resolve } from "node:path";
import { z } from "zod";
import type { KeystoreFile } from "../../lib/chain/open-keystore.ts";

/** A keystore in the configuration; without a file there is none. */
export const keystoreSettings = z
  .strictObject({
    keystoreFile: z.string().default(""),
    passwordFile: z.string().default(""),
    password: z.string().default(""),
  })
  .prefault({});

/** Who signs orders: a keystore, the key that everybody knows, or nobody. */
export type OrderSignerSource =
  | ({ kind: "keystore" } & KeystoreFile)
  | { kind: "development" }
  | { kind: "none" };

/** Its paths count from the file's folder. */
export function orderSignerOf({
  given: { keystoreFile, passwordFile, password },
  profile,
  folder,
}: {
  given: z.output<typeof keystoreSettings>;
  profile: "development" | "production";
  folder: string;
}): OrderSignerSource {
  const path = (name: string) => (name === "" ? "" : resolve(folder, name));
  return keystoreFile === ""
    ? { kind: profile === "development" ? "development" : "none" }
    : { kind: "keystore", file: path(keystoreFile), passwordFile: path(passwordFile), password };
}
