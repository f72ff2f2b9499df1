import { formatEther, parseEther } from "ethers/utils";
import { z } from "zod";

/** `1,234.5`: an amount in wei as tokens of 18 decimals, with at most four of them. */
export function formatTokens(wei: bigint | string): string {
  const [whole = "0", decimals = ""] = formatEther(wei).split(".");
  const grouped = BigInt(whole).toLocaleString("en-US");
  const rest = decimals.slice(0, 4).replace(/0+$/, "");
  return rest === "" ? grouped : `${grouped}.${rest}`;
}

/** Tokens as a person writes them (`"10"`, `0.5`) in wei; undefined where the text is no amount above zero. */
export function parseTokens(text: string | number): bigint | undefined {
  try {
    const wei = parseEther(String(text));
    return wei > 0n ? wei : undefined;
  } catch {
    return undefined;
  }
}

/** An amount of tokens in a configuration, read into wei. */
export const tokenAmount = z.union([z.string(), z.number()]).transform((value, context) => {
  const wei = parseTokens(value);
  if (wei !== undefined) return wei;
  context.addIssue("an amount of tokens above 0, with at most 18 decimals, was expected");
  return z.NEVER;
});
