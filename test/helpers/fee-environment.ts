import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { feeSources } from "../../lib/fee-collector/fee-sources.ts";

const address = (digit: string) => checksumAddress(`0x${digit.repeat(40)}`);

/** Addresses for config/fees.yaml that production takes. */
export const productionFees: Readonly<Record<string, string>> = Object.fromEntries([
  ["FEE_OWNER", address("1")],
  ["FEE_TREASURY", address("2")],
  ...feeSources.map((source) => [`FEE_SIGNER_${source.toUpperCase()}`, address("3")]),
]);
