import type { JsonFragment } from "ethers/abi";
import { feeCollectorArtifact } from "../../lib/fee-collector/artifacts.ts";
import type { FeeSettings } from "../../lib/fee-collector/fee-settings.ts";
import type { KnownContract } from "../chain/known-contracts.ts";

/** The contracts of the folder, and before them the FeeCollector: a file for its address stands back. */
export function withFeeCollector(
  contracts: readonly KnownContract[],
  fees: FeeSettings | undefined,
): readonly KnownContract[] {
  if (fees === undefined) return contracts;
  const { feeCollector: address } = fees;
  const abi: readonly JsonFragment[] = feeCollectorArtifact.abi;
  return [
    { name: "FeeCollector", address, abi, deployedAtBlock: null },
    ...contracts.filter((contract) => contract.address.toLowerCase() !== address.toLowerCase()),
  ];
}
