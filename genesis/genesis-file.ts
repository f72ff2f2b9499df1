import { parseEther, toQuantity } from "ethers/utils";
import { type Consensus, encodeExtraData } from "../lib/ibft/extra-data.ts";
import { deterministicDeployer } from "./known-accounts.ts";

export type GenesisAccount = { address: string; tokens: number };

export type GenesisSettings = {
  consensus: Consensus;
  chainId: number;
  /** Addresses; written in ascending order, as live headers have them. */
  validators: readonly string[];
  blockSeconds: number;
  requestTimeoutSeconds: number;
  epochBlocks: number;
  gasLimit: number;
  accounts: readonly GenesisAccount[];
};

/** The letters "ctical byzantine fault tolerance": how a block of IBFT and its kin is known (EIP-650). */
export const bftMixHash = "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365";
export const bftDifficulty = "0x1";
/** What Besu's own tool writes. A fixed one keeps the file the same for the same keys and options. */
const timestamp = "0x58ee40ba";
const noVanity = `0x${"00".repeat(32)}`;
const noAddress = `0x${"00".repeat(20)}`;

/** The content of genesis.json for Besu: London to Cancun from the first block on, no base fee. */
export function createGenesis({
  consensus,
  chainId,
  validators,
  blockSeconds,
  requestTimeoutSeconds,
  epochBlocks,
  gasLimit,
  accounts,
}: GenesisSettings) {
  const bft = {
    blockperiodseconds: blockSeconds,
    epochlength: epochBlocks,
    requesttimeoutseconds: requestTimeoutSeconds,
  };
  const ascending = validators.map((address) => address.toLowerCase()).sort();
  return {
    config: {
      chainId,
      // Besu's tool leaves London out where it is not asked for, and with it the zero base fee would do nothing.
      berlinBlock: 0,
      londonBlock: 0,
      shanghaiTime: 0,
      cancunTime: 0,
      zeroBaseFee: true,
      ...(consensus === "ibft2" ? { ibft2: bft } : { qbft: bft }),
    },
    nonce: "0x0",
    timestamp,
    gasLimit: toQuantity(gasLimit),
    difficulty: bftDifficulty,
    mixHash: bftMixHash,
    coinbase: noAddress,
    alloc: allocationOf(accounts),
    extraData: encodeExtraData({
      consensus,
      validators: ascending,
      vanity: noVanity,
      vote: undefined,
      round: 0,
      seals: [],
    }),
  };
}

type Allocation = { balance: string; code?: string; nonce?: string };

function allocationOf(accounts: readonly GenesisAccount[]): Record<string, Allocation> {
  const balancesWei = new Map<string, bigint>();
  for (const { address, tokens } of accounts) {
    const key = address.toLowerCase();
    balancesWei.set(key, (balancesWei.get(key) ?? 0n) + parseEther(String(tokens)));
  }
  const { address, code } = deterministicDeployer;
  return {
    ...Object.fromEntries([...balancesWei].map(([key, wei]) => [key, { balance: toQuantity(wei) }])),
    // A contract's nonce begins at 1 (EIP-161), as if it had been deployed.
    [address.toLowerCase()]: { balance: "0x0", code, nonce: "0x1" },
  };
}
