import { formatEther } from "ethers";

/** `1,234.5`: an amount in wei as tokens of 18 decimals, with at most four of them. */
export function tokens(wei: bigint | string): string {
  const [whole = "0", decimals = ""] = formatEther(wei).split(".");
  const grouped = BigInt(whole).toLocaleString("en-US");
  const rest = decimals.slice(0, 4).replace(/0+$/, "");
  return rest === "" ? grouped : `${grouped}.${rest}`;
}
