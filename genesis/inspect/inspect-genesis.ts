import type { Consensus } from "../../lib/ibft/extra-data.ts";
import { quorumOf } from "../../lib/ibft/quorum.ts";
import { genesisBlock } from "../genesis-block.ts";
import { checkAlloc, type InspectedAccount } from "./check-alloc.ts";
import { checkBlock, readQuantity } from "./check-block.ts";
import { checkConsensus } from "./check-consensus.ts";
import { checkForks, type Fork } from "./check-forks.ts";
import type { Finding } from "./finding.ts";
import { readGenesis } from "./read-genesis.ts";

/** What a genesis file says; `undefined` where it does not say it, or not in a way that can be read. */
export type Inspection = {
  consensus: Consensus | undefined;
  chainId: number | undefined;
  /** Of files of our own kind only (see genesis-block.ts). */
  genesisHash: string | undefined;
  validators: readonly string[];
  quorum: number | undefined;
  round: number | undefined;
  blockSeconds: number | undefined;
  requestTimeoutSeconds: number | undefined;
  gasLimit: bigint | undefined;
  forks: readonly Fork[];
  accounts: readonly InspectedAccount[];
  findings: readonly Finding[];
};

/** Decodes any genesis file of IBFT 2.0 or QBFT and says what is wrong with it. */
export function inspectGenesis(
  text: string,
  { now }: { now: () => Date },
): { inspection: Inspection } | { problem: string } {
  const read = readGenesis(text);
  if ("problem" in read) return read;
  const { view } = read;
  const { consensus, extraData, bft, findings } = checkConsensus(view);
  const forks = checkForks(view);
  const alloc = checkAlloc(view);
  const validators = extraData?.validators ?? [];
  return {
    inspection: {
      consensus,
      validators,
      round: extraData?.round,
      quorum: validators.length === 0 ? undefined : quorumOf(validators.length),
      chainId: numberOf(view.config["chainid"]),
      genesisHash: genesisBlock(JSON.parse(text))?.hash,
      blockSeconds: numberOf(bft["blockperiodseconds"]),
      requestTimeoutSeconds: numberOf(bft["requesttimeoutseconds"]),
      gasLimit: readQuantity(view.root["gaslimit"]),
      forks: forks.forks,
      accounts: alloc.accounts,
      findings: [
        ...read.findings,
        ...findings,
        ...forks.findings,
        ...checkBlock(view, { now }),
        ...alloc.findings,
      ],
    },
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
