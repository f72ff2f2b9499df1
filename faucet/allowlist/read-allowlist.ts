import { z } from "zod";
import { readConfig } from "../../lib/config/read-config.ts";
import { tokenAmount } from "../../lib/config/token-amount.ts";
import { readAddress } from "./claim-address.ts";

export type AllowlistEntry = {
  /** EIP-55. */
  address: string;
  label: string;
  /** Absent: the faucet's own amount. */
  amountWei?: bigint;
};

const entriesMax = 20_000;
export const labelCharsMax = 120;

/** Reads the allowlist's file. @throws ConfigError naming file, line and what was expected. */
export function readAllowlist(file: string): AllowlistEntry[] {
  const { addresses } = readConfig({ file, schema: allowlistSchema, env: {} });
  return addresses.map(({ address, label, amount }) => ({
    address,
    label,
    ...(amount === undefined ? {} : { amountWei: amount }),
  }));
}

const addressSchema = z.unknown().transform((text, context) => {
  const read = readAddress(text);
  if ("address" in read) return read.address;
  // Without quotes YAML takes 0x… for a number.
  context.addIssue(typeof text === "number" ? "an address in quotes was expected" : read.wrong);
  return z.NEVER;
});

const allowlistSchema = z.strictObject({
  addresses: z
    .array(
      z.strictObject({
        address: addressSchema,
        label: z.string().min(1).max(labelCharsMax),
        amount: tokenAmount.optional(),
      }),
    )
    .max(entriesMax)
    .check(({ value, issues }) => {
      const seen = new Set<string>();
      for (const [index, { address }] of value.entries()) {
        if (seen.has(address)) {
          issues.push({
            code: "custom",
            input: undefined,
            path: [index, "address"],
            message: "this address stands here twice",
          });
        }
        seen.add(address);
      }
    }),
});
