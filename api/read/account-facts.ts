import { checksumAddress } from "../../lib/chain/checksum-address.ts";
import type { Queryable } from "../../lib/postgres/queryable.ts";
import { readHex, readInteger, readNullable } from "../../lib/postgres/row.ts";
import type { AccountRecord } from "../records/transaction.ts";
import { bytesOf } from "./columns.ts";

/** What only the index knows of an account: who created it, and where it was seen first. */
export async function readAccountFacts(
  db: Queryable,
  account: string,
): Promise<Pick<AccountRecord, "createdBy" | "firstSeenBlock">> {
  const { rows } = await db.query({
    name: "account-facts",
    text: `select c.sender, c.hash, c.block, least(
        (select min(block) from chain.tx where sender = $1),
        (select min(block) from chain.tx where recipient = $1), c.block) as first
      from (select 1) one left join lateral
        (select sender, hash, block from chain.tx where created = $1 limit 1) c on true`,
    values: [bytesOf(account)],
  });
  const [row] = rows;
  if (row === undefined) return { createdBy: null, firstSeenBlock: null };
  const creator = readNullable(readHex, row, "sender");
  return {
    createdBy:
      creator === null
        ? null
        : {
            address: checksumAddress(creator),
            transactionHash: readHex(row, "hash"),
            blockNumber: readInteger(row, "block"),
          },
    firstSeenBlock: readNullable(readInteger, row, "first"),
  };
}
