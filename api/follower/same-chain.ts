import { readAnswer } from "../../lib/chain/read-answer.ts";
import { hexQuantity } from "../../lib/chain/rpc-values.ts";
import { decodeExtraData } from "../../lib/ibft/extra-data.ts";
import type { PostgresPool } from "../../lib/postgres/postgres-pool.ts";
import { readHex } from "../../lib/postgres/row.ts";
import { type RpcBlock, rpcBlock } from "../chain/rpc-records.ts";
import type { IndexRow } from "./index-row.ts";
import { type AskAll, BrokenChainError } from "./read-range.ts";

/** Blocks of the chain as it is now, by which the index's chain is known again. */
export type ChainView = { genesis: RpcBlock; head: RpcBlock; last: RpcBlock | undefined };

const blockOrNull = rpcBlock.nullable();

/** @throws ChainUnavailableError where the chain cannot be asked. */
export async function viewChain(rpc: AskAll, row: IndexRow | undefined): Promise<ChainView> {
  const lastNumber = Math.max((row?.next ?? 0) - 1, 0);
  const answers = await rpc.askAll(
    ["0x0", "latest", hexQuantity(lastNumber)].map((number) => ({
      method: "eth_getBlockByNumber",
      params: [number, false],
    })),
  );
  const [genesis, head, last] = answers.map((answer) => readAnswer(answer, blockOrNull) ?? undefined);
  if (genesis === undefined || head === undefined) throw new BrokenChainError("the chain has no blocks");
  return { genesis, head, last };
}

/**
 * Whether the chain is still the one that is indexed. `undefined` is yes; otherwise why not. One that merely ends below
 * the index is another where it is a dev chain, which can be taken back (`evm_revert`); blocks of IBFT are final, so
 * there it is a node that is behind, unless it has another block at its end.
 */
export async function otherChain({
  pool,
  row,
  view: { genesis, head, last },
}: {
  pool: PostgresPool;
  row: IndexRow;
  view: ChainView;
}): Promise<string | undefined> {
  if (genesis.hash !== row.genesisHash) {
    return `the chain's genesis block is ${genesis.hash}, that of the index ${row.genesisHash}`;
  }
  if (row.lastHash === null) return undefined;
  if (last !== undefined && last.number === row.next - 1) {
    if (last.hash === row.lastHash) return undefined;
    return `block ${last.number} of the chain is ${last.hash}, that of the index ${row.lastHash}`;
  }
  if (head.number >= row.next - 1) return undefined;
  if (isDevChain(head)) return `the chain ends at block ${head.number}, the index at ${row.next - 1}`;
  const { rows } = await pool.query("select hash from chain.block where number = $1", [head.number]);
  const [indexed] = rows;
  const hash = indexed === undefined ? undefined : readHex(indexed, "hash");
  if (hash === undefined || hash === head.hash) return undefined;
  return `block ${head.number} of the chain is ${head.hash}, that of the index ${hash}`;
}

export function isDevChain({ extraData }: { extraData: string }): boolean {
  return !("extraData" in decodeExtraData(extraData));
}
