import { keccak256 } from "ethers/crypto";
import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { network } from "../../lib/network.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { KnownContracts } from "../chain/known-contracts.ts";
import type { ContractsRecord } from "../records/chain.ts";
import type { AccountRecord } from "../records/transaction.ts";
import { readAccountFacts } from "./account-facts.ts";
import type { ChainHead } from "./chain-head.ts";
import { whileAway } from "./while-away.ts";

type Sources = { reader: Pick<ChainReader, "account">; head: Pick<ChainHead, "latest">; db: Queryable };

const noFacts = { createdBy: null, firstSeenBlock: null };

/** An account at the newest block, with what the index adds to it. */
export async function readAccount(
  { nameOf, ...sources }: Sources & { nameOf: (address: string) => string | null },
  address: string,
): Promise<AccountRecord> {
  const { number } = await sources.head.latest();
  const { balance, nonce, code, facts } = await readAt(sources, address, number);
  const codeBytes = (code.length - 2) / 2;
  return {
    address,
    balance: balance.toString(),
    // The platform token is the chain's own.
    tokenBalance: balance.toString(),
    transactionCount: nonce,
    isContract: codeBytes > 0,
    codeHash: codeBytes === 0 ? null : keccak256(code),
    codeBytes,
    name: nameOf(address),
    ...facts,
    blockNumber: number,
  };
}

/** The contracts of the configuration, with the code that the chain has for them. */
export async function readNetworkContracts({
  contracts,
  ...sources
}: Sources & { contracts: KnownContracts }): Promise<ContractsRecord> {
  const { number } = await sources.head.latest();
  const data = await Promise.all(
    contracts.all.map(async ({ name, address, deployedAtBlock }) => {
      const { code, facts } = await readAt(sources, address, number);
      return {
        name,
        address: checksumAddress(address),
        deployedAtBlock: facts.createdBy?.blockNumber ?? deployedAtBlock,
        deployTransaction: facts.createdBy?.transactionHash ?? null,
        codeHash: keccak256(code),
        abiUrl: `/api/v1/network/contracts/${encodeURIComponent(name)}/abi.json`,
      };
    }),
  );
  return { chainId: network.chainId, data };
}

async function readAt({ reader, db }: Pick<Sources, "reader" | "db">, address: string, number: number) {
  const [account, facts] = await Promise.all([
    reader.account(address, number),
    whileAway(readAccountFacts(db, address), noFacts),
  ]);
  return { ...account, facts };
}
