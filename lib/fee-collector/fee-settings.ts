import { z } from "zod";
import { checksumAddress } from "../chain/checksum-address.ts";
import { developmentAccounts } from "../chain/development-accounts.ts";
import { readConfig } from "../config/read-config.ts";
import { commaList, profile } from "../config/schemas.ts";
import { developmentOwner, developmentSigners, developmentTreasury } from "./development-keys.ts";
import { feeCollectorAddress } from "./fee-addresses.ts";
import { type FeeSource, feeSources } from "./fee-sources.ts";

export type FeeSettings = {
  /** Of the deployment: they are part of the contract's address. EIP-55, as all addresses here. */
  owner: string;
  treasury: string;
  feeCollector: string;
  /** Who signs orders of a source: one, or two while a key is changed. None: nobody can make such orders. */
  signers: Readonly<Record<FeeSource, readonly string[]>>;
};

/**
 * Reads `config/fees.yaml` or another file of its shape. `profile` is that of the process that reads it.
 * @throws ConfigError naming file, line, key and what was expected.
 */
export function readFeeSettings({
  file,
  env,
  profile,
}: {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  profile?: "development" | "production";
}): FeeSettings {
  const overrides = profile === undefined ? {} : { profile };
  const { owner, treasury, signers } = readConfig({ file, schema: settingsSchema, env, overrides });
  return { owner, treasury, feeCollector: feeCollectorAddress({ owner, treasury }), signers };
}

/** What the dev chain has. */
export const developmentFeeSettings: FeeSettings = {
  owner: developmentOwner.address,
  treasury: developmentTreasury,
  feeCollector: feeCollectorAddress({ owner: developmentOwner.address, treasury: developmentTreasury }),
  signers: bySource((source) => [developmentSigners[source].address]),
};

/** A table with a row for each source. */
export function bySource<Value>(rowOf: (source: FeeSource) => Value): Record<FeeSource, Value> {
  return {
    svc_dev: rowOf("svc_dev"),
    payments: rowOf("payments"),
    identity: rowOf("identity"),
    ppob: rowOf("ppob"),
    works: rowOf("works"),
    bridge: rowOf("bridge"),
    tournaments: rowOf("tournaments"),
  };
}

const signersMax = 2;

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "an address (0x and 40 digits, in quotes) was expected")
  .refine((text) => !/^0x0{40}$/.test(text), "an address other than zero was expected")
  .transform((text, context) => {
    const checksummed = checksumAddress(text);
    // Digits of one case carry no checksum (EIP-55).
    const digits = text.slice(2);
    if (text !== checksummed && digits !== digits.toLowerCase() && digits !== digits.toUpperCase()) {
      context.addIssue({
        code: "custom",
        message: "the address's checksum (EIP-55) is wrong: a digit may be, too",
      });
    }
    return checksummed;
  });

const settingsSchema = z
  .strictObject({
    profile: profile.default("development"),
    owner: address,
    treasury: address,
    signers: z.strictObject(bySource(() => commaList(address, signersMax).default([]))).prefault({}),
  })
  .check(({ value, issues }) => {
    if (value.profile !== "production") return;
    const refuse = (path: (string | number)[]) =>
      issues.push({
        code: "custom",
        input: undefined,
        path,
        message: "the production profile takes no development account: everybody has its key",
      });
    if (isDevelopment(value.owner)) refuse(["owner"]);
    if (isDevelopment(value.treasury)) refuse(["treasury"]);
    for (const source of feeSources) {
      if (value.signers[source].some(isDevelopment)) refuse(["signers", source]);
    }
  });

const developmentAddresses: readonly string[] = [
  ...developmentAccounts,
  developmentTreasury,
  ...Object.values(developmentSigners).map((signer) => signer.address),
];

function isDevelopment(address: string): boolean {
  return developmentAddresses.includes(address);
}
