import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import { readBlockHeader, signersOf } from "../../lib/ibft/block-header.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import { missedTurns, quorumOf } from "../../lib/ibft/quorum.ts";
import { isPostgresFailure } from "../../lib/postgres/postgres-failure.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex } from "../../lib/postgres/row.ts";
import type { BlockWithHeader } from "../chain/rpc-records.ts";
import type { ConsensusRecord } from "../records/block.ts";

/**
 * Who sealed a block and whose turns passed before it. Each validator keeps the seals that it saw, so the answer is the
 * union of this header's and of those that the follower collected.
 */
export async function readConsensus(db: Queryable, block: BlockWithHeader): Promise<ConsensusRecord> {
  const decoded = decodeExtraData(block.extraData);
  if (!("extraData" in decoded) || block.number === 0) {
    const validators =
      "extraData" in decoded ? decoded.extraData.validators.map((one) => checksumAddress(one)) : [];
    // Nobody seals a development chain, nor a genesis block.
    return {
      blockNumber: block.number,
      round: null,
      sealedBy: [],
      notSealed: [],
      missedTurns: [],
      validators,
      quorum: validators.length === 0 ? 0 : quorumOf(validators.length),
    };
  }
  const { validators, round } = decoded.extraData;
  const sealers = new Set([...(await collectedSealers(db, block.number)), ...headerSigners(block)]);
  const named = validators.map((one) => checksumAddress(one));
  return {
    blockNumber: block.number,
    round,
    sealedBy: named.filter((address) => sealers.has(address.toLowerCase())),
    notSealed: named.filter((address) => !sealers.has(address.toLowerCase())),
    missedTurns: missedTurns({ validators, proposer: block.miner, round }).map((one) => checksumAddress(one)),
    validators: named,
    quorum: quorumOf(validators.length),
  };
}

function headerSigners(block: BlockWithHeader): ReadonlySet<string> {
  const read = readBlockHeader(block.header);
  return "header" in read ? signersOf(read.header) : new Set();
}

async function collectedSealers(db: Queryable, number: number): Promise<string[]> {
  try {
    const { rows } = await db.query({
      name: "seals-of-block",
      text: "select validator from chain.seal where block = $1",
      values: [number],
    });
    return rows.map((row) => readHex(row, "validator"));
  } catch (error) {
    // Without the index the header's own seals have to do.
    if (isPostgresFailure(error)) return [];
    throw error;
  }
}
